import { randomUUID } from 'node:crypto'
import type { SagaClient } from '@switchyard/saga-client'

/** One thing a saga does, and how to undo it. */
export interface Step {
  name: string
  parameter: unknown
  execute: () => Promise<unknown>
  compensate: () => Promise<void>
}

export type Outcome = { succeeded: true } | { succeeded: false; because: unknown }

/**
 * Runs the steps in their order; when one fails, undoes it and those before it, the last first. Each thing
 * that happens is reported, but the saga never waits for the reporter and never fails because of it.
 */
export async function runSaga(reporter: SagaClient, sagaId: string, steps: Step[]): Promise<Outcome> {
  void reporter.sagaStarted({ sagaId })
  const begun: { step: Step; activityId: string }[] = []
  let outcome: Outcome = { succeeded: true }
  for (const [order, step] of steps.entries()) {
    const activityId = randomUUID()
    begun.push({ step, activityId })
    void reporter.activityExecuteStarted({
      sagaId,
      activityId,
      order,
      timeOutSeconds: 30,
      parameter: step.parameter,
      tags: { step: step.name },
    })
    try {
      const result = await step.execute()
      void reporter.activityEnded({ sagaId, activityId, result })
    } catch (error) {
      void reporter.activityExecuteAborted({ sagaId, activityId, error })
      outcome = { succeeded: false, because: error }
      break
    }
  }
  if (!outcome.succeeded && !(await compensate(reporter, sagaId, begun))) return outcome
  void reporter.sagaEnded({ sagaId })
  return outcome
}

/** Undoes what was begun; false when something could not be undone, which is for people to look at. */
async function compensate(
  reporter: SagaClient,
  sagaId: string,
  begun: { step: Step; activityId: string }[],
): Promise<boolean> {
  for (const { step, activityId } of begun.reverse()) {
    try {
      await step.compensate()
      void reporter.activityCompensated({ sagaId, activityId })
    } catch (error) {
      void reporter.activityCompensateAborted({ sagaId, activityId, error, final: true })
      return false
    }
  }
  return true
}
