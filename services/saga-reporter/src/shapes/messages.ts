import type { Activity, Payload, Saga, SagaEvent } from '@switchyard/contracts/saga-messages'
import type { ActivityView, PayloadHead } from '../activities/store.js'
import type { LogEntry } from '../live/store.js'
import type { SagaView } from '../saga-view-store.js'
import { durationOfSaga, phasesOf } from './activity.js'

type WithoutNulls<Row> = {
  [Key in keyof Row]: null extends Row[Key] ? NonNullable<Row[Key]> | undefined : Row[Key]
}

/** Removes null fields, because messages leave them out. */
const withoutNulls = <Row extends object>(row: Row) =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, value ?? undefined]),
  ) as WithoutNulls<Row>

/** Returns a saga as a message of `switchyard.sagas.v1`. */
export const toSagaMessage = ({ id, flags, ...saga }: SagaView): Saga => ({
  sagaId: id,
  ...withoutNulls(saga),
  flags: flags.map(withoutNulls),
  durationMs: durationOfSaga(saga) ?? undefined,
})

export function toActivityMessage(activity: ActivityView): Activity {
  const { execute, compensate } = phasesOf(activity)
  const { id, finalAbort, executeErrors, compensateErrors, parameter, result, ...same } = activity
  return {
    ...withoutNulls(same),
    activityId: id,
    executeAttempts: execute.attempts,
    compensateAttempts: compensate.attempts,
    compensationGivenUp: finalAbort,
    executeErrors: executeErrors?.text,
    compensateErrors: compensateErrors?.text,
    executeErrorsSize: executeErrors?.size,
    compensateErrorsSize: compensateErrors?.size,
    parameter: toPayloadMessage(parameter),
    result: toPayloadMessage(result),
    executeStatus: execute.status ?? undefined,
    compensationStatus: compensate.status ?? undefined,
    executeDurationMs: execute.durationMs ?? undefined,
    compensateDurationMs: compensate.durationMs ?? undefined,
  }
}

const toPayloadMessage = (payload: PayloadHead | null): Payload | undefined =>
  payload ? { head: payload.head, size: payload.size, sha256: payload.sha256 } : undefined

export const toEventMessage = (entry: LogEntry): SagaEvent => withoutNulls(entry)
