export {
  createSagaClient,
  type SagaClient,
  SagaReportError,
} from './client.js'
export {
  type CommandHandler,
  type CommandHandlers,
  type CommandOptions,
  CommandRefused,
  CommandReturned,
  type SagaCommand,
  type StopCommands,
} from './commands.js'
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
