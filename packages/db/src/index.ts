export type { Pool, PoolClient } from 'pg'
export * from './check-database.js'
export * from './client.js'
export { isDatabaseUnavailable, sqlStateOf } from './database-failure.js'
export {
  type AuditEvent,
  type BroadcastMessage,
  type CommitComment,
  type CommitStatus,
  type Deployment,
  type DeployToken,
  type Environment,
  type FreezePeriod,
  type LfsLock,
  type PersonalAccessToken,
  type Pipeline,
  Prisma,
  type Project,
  type ProjectMember,
  type ProtectedBranch,
  type ProtectedTag,
  type Release,
  type ReleaseLink,
  type RepositoryStorageMove,
  type Saga,
  type SagaActivity,
  type SagaEvent,
  type SavedView,
  type Session,
  type User,
  type WebhookDelivery,
} from './generated/client.js'
export { isMissingProject } from './missing-project.js'
export { inPoolTransaction } from './pool-transaction.js'
export * from './stores/audit-events.js'
export * from './stores/broadcast-messages.js'
export * from './stores/callers.js'
export * from './stores/lfs.js'
export * from './stores/members.js'
export * from './stores/projects.js'
export * from './stores/provisioning.js'
export * from './stores/repository-locations.js'
export * from './stores/repository-lock.js'
export * from './stores/require-unchanged.js'
export * from './stores/saga-event-partitions.js'
export * from './stores/sagas/bulk/jobs.js'
export * from './stores/sagas/bulk/matching.js'
export * from './stores/sagas/bulk/steps.js'
export * from './stores/sagas/ended-sagas.js'
export * from './stores/sagas/feed/read-log.js'
export * from './stores/sagas/flag-sources.js'
export * from './stores/sagas/flags.js'
export * from './stores/sagas/gauges.js'
export * from './stores/sagas/leases/claim.js'
export * from './stores/sagas/leases/end.js'
export * from './stores/sagas/log-retention.js'
export * from './stores/sagas/purge-sagas.js'
export * from './stores/sagas/reading/index.js'
export * from './stores/sagas/rebuild.js'
export type { NewSagaEvent, RecordedSagaEvent } from './stores/sagas/recording/new-saga-event.js'
export * from './stores/sagas/recording/saga-event-store.js'
export * from './stores/sagas/retention-sources.js'
export * from './stores/sagas/sweeps.js'
export type { TenantKey } from './stores/sagas/tenant-key.js'
export * from './stores/sagas/tombstones.js'
export * from './stores/sessions.js'
export * from './stores/storage-uses.js'
export * from './stores/tokens.js'
export * from './stores/users.js'
export * from './stores/webhooks/deliveries.js'
export * from './stores/webhooks/header-values.js'
export * from './stores/webhooks/hooks.js'
export * from './stores/webhooks/saga-cursor.js'
export * from './stores/webhooks/saga-news.js'
export {
  countSecretsByKey,
  type EncryptedSecret,
  findSecret,
  forgetPreviousSecrets,
  listSecretsToEncrypt,
  replaceSecret,
  type StoredSecret,
} from './stores/webhooks/secrets.js'
export * from './stores/webhooks/sending.js'
export * from './unique-violation.js'
