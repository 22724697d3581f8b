export { type Activity, type Anomaly, anomalies } from './activity.js'
export { type ActivityStatus, activityStatuses, rankOf } from './activity-status.js'
export { type AppliedActivityEvent, applyActivityEvent } from './apply-activity-event.js'
export { type AppliedSagaEvent, applySagaEvent, noteActivityEvent } from './apply-saga-event.js'
export { type Content, contentHash, contentKeyOf } from './content-keys.js'
export { errorFingerprint } from './error-fingerprint.js'
export * from './events.js'
export {
  deriveParkedActivityFlags,
  deriveSagaFlags,
  type FlaggableActivity,
  type FlaggableSaga,
  type FlagRules,
  isSameFlag,
  type SagaFlag,
  type SagaFlagKind,
  sagaFlagKinds,
} from './flags.js'
export { parseEventTime } from './parse-event-time.js'
export { type RejectionCode, rejectionMessages, SagaRejection } from './rejection.js'
export {
  parseRetention,
  purgeDueAt,
  type RetainedActivity,
  type RetainedSaga,
  type RetentionPolicy,
  shortestKeepMs,
} from './retention.js'
export {
  type ActivityFacts,
  deriveSagaOutcome,
  deriveSagaStatus,
  type Saga,
  type SagaOutcome,
  type SagaStatus,
  sagaOutcomes,
  sagaStatuses,
  settleSaga,
} from './saga.js'
export { type AppliedEvent, needsFacts, type Receipt, SagaLedger } from './saga-ledger.js'
export { defaultTenant, keyInTenant } from './tenant.js'
export { type RawSagaEvent, type ValidationOptions, validateSagaEvent } from './validate-event.js'
