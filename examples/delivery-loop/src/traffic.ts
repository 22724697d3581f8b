import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { SagaClient } from '@switchyard/saga-client'

/** The steps of one order. They do nothing, but the reports about them are real. */
const steps = ['reserve', 'charge', 'ship']
const stepMs = 100

/** Reports a saga. With `error`, its second step fails, and the finished steps are undone. */
export async function reportSaga(reporter: SagaClient, error?: Error): Promise<void> {
  const sagaId = `example-${randomUUID()}`
  const begun: string[] = []
  void reporter.sagaStarted({ sagaId, tags: { example: 'delivery-loop' } })
  for (const [order, step] of steps.entries()) {
    const activityId = `${sagaId}-${step}`
    const about = { sagaId, activityId }
    begun.unshift(activityId)
    void reporter.activityExecuteStarted({ ...about, order, timeOutSeconds: 30, parameter: { step } })
    await wait(stepMs + Math.random() * stepMs)
    if (error && order === 1) {
      void reporter.activityExecuteAborted({ ...about, error: error.message })
      for (const each of begun) void reporter.activityCompensated({ sagaId, activityId: each })
      break
    }
    void reporter.activityEnded({ ...about, result: 'done' })
  }
  void reporter.sagaEnded({ sagaId })
}

/**
 * Reports sagas until the signal aborts, one in each `everyMs`.
 *
 * @param problemOf returns the error of each saga; undefined: it succeeds
 */
export async function reportSagas(
  reporter: SagaClient,
  {
    everyMs,
    problemOf,
    signal,
  }: { everyMs: number; problemOf: () => Error | undefined; signal: AbortSignal },
): Promise<void> {
  const underWay = new Set<Promise<void>>()
  while (!signal.aborted) {
    const saga = reportSaga(reporter, problemOf())
    underWay.add(saga)
    void saga.finally(() => underWay.delete(saga))
    await wait(everyMs, undefined, { signal }).catch(() => {})
  }
  await Promise.all(underWay)
}
