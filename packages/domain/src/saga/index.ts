export { type Activity, anomalies } from './activity.js'
export { type ActivityStatus, activityStatuses, rankOf } from './activity-status.js'
export { contentHash, contentKeyOf } from './content-keys.js'
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
export { rejectionMessages, SagaRejection } from './rejection.js'
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
  type Saga,
  type SagaStatus,
  sagaOutcomes,
  sagaStatuses,
} from './saga.js'
export { needsFacts, type Receipt, SagaLedger } from './saga-ledger.js'
export { defaultTenant, keyInTenant } from './tenant.js'
export { type RawSagaEvent, type ValidationOptions, validateSagaEvent } from './validate-event.js'
