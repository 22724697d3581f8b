export {
  createSagaClient,
  type SagaClient,
  SagaReportError,
} from './client.js'
export type {
  ActivityAborted,
  ActivityCompensateAborted,
  ActivityEnded,
  ActivityEvent,
  ActivityExecuteStarted,
  ActivityRetried,
  EventOptions,
  SagaEvent,
  SagaStarted,
} from './events.js'
export type { ReportResult, SagaClientOptions, Stats } from './options.js'
