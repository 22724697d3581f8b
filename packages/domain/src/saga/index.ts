export { type Activity, type Anomaly, anomalies } from './activity.js'
export { type ActivityStatus, activityStatuses, rankOf } from './activity-status.js'
export { type AppliedActivityEvent, applyActivityEvent } from './apply-activity-event.js'
export { type AppliedSagaEvent, applySagaEvent, noteActivityEvent } from './apply-saga-event.js'
export * from './events.js'
export { parseEventTime } from './parse-event-time.js'
export { type RejectionCode, SagaRejection } from './rejection.js'
export {
  type ActivityFacts,
  deriveSagaOutcome,
  deriveSagaStatus,
  type Saga,
  type SagaOutcome,
  type SagaStatus,
  sagaStatuses,
  settleSaga,
} from './saga.js'
export { type AppliedEvent, SagaLedger } from './saga-ledger.js'
export { type RawSagaEvent, type ValidationOptions, validateSagaEvent } from './validate-event.js'
