import type { SagaEvent } from '@switchyard/domain/saga'

/** Everything that the log may say. */
export const sagaOperations = [
  'SagaStarted',
  'SagaEnded',
  'ActivityExecuteStarted',
  'ActivityRetried',
  'ActivityExecuteAborted',
  'ActivityCompensateAborted',
  'ActivityEnded',
  'ActivityCompensated',
  'ActivityExecuteOvertime',
  'ActivityRevoked',
  'OperatorResolved',
] as const satisfies readonly SagaEvent['operation'][]
