import { SagaService } from '@switchyard/contracts/saga'
import type { OperatorEvent, SagaEvent } from '@switchyard/domain/saga'

type RequestField = keyof typeof SagaService

/** The operations that a caller can report, and the field of ReportedEvent that holds the request of each. */
export const requestFields = {
  SagaStarted: 'sagaStarted',
  SagaEnded: 'sagaEnded',
  ActivityExecuteStarted: 'activityExecuteStarted',
  ActivityRetried: 'activityRetried',
  ActivityExecuteAborted: 'activityExecuteAborted',
  ActivityCompensateAborted: 'activityCompensateAborted',
  ActivityEnded: 'activityEnded',
  ActivityCompensated: 'activityCompensated',
  ActivityExecuteOvertime: 'activityExecuteOvertime',
  ActivityRevoked: 'activityRevoked',
} as const satisfies Record<Exclude<SagaEvent['operation'], OperatorEvent['operation']>, RequestField>

export type ReportedOperation = keyof typeof requestFields

/** The operations of operators. */
const operatorOperations: readonly OperatorEvent['operation'][] = [
  'OperatorResolved',
  'OperatorResolutionUndone',
]

/** The operations of the log: those that callers report, and those of operators. */
export const sagaOperations = [...Object.keys(requestFields), ...operatorOperations] as [
  SagaEvent['operation'],
  ...SagaEvent['operation'][],
]

/** The request of an operation in the bytes in which a single call sends it. */
export function serializeRequest(operation: ReportedOperation, message: object): Buffer {
  const serialize: (message: never) => Buffer = SagaService[requestFields[operation]].requestSerialize
  return serialize(message as never)
}
