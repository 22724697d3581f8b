export { checkDatabase } from './check-database.js'
export {
  createDatabase,
  type Database,
  type DatabaseOptions,
  type DatabaseOrTransaction,
  inTransaction,
} from './client.js'
export { isDatabaseUnavailable } from './database-failure.js'
export {
  type AuditEvent,
  type BroadcastMessage,
  type CommitStatus,
  type PersonalAccessToken,
  Prisma,
  type Project,
  type ProjectMember,
  type ProtectedBranch,
  type Saga,
  type SagaActivity,
  type SagaEvent,
  type User,
  type WebhookDelivery,
} from './generated/client.js'
export {
  type AuditAuthor,
  type AuditFilter,
  findAuditEvent,
  listAuditEvents,
  recordAuditEvent,
} from './stores/audit-events.js'
export {
  createBroadcastMessage,
  deleteBroadcastMessage,
  getBroadcastMessage,
  listBroadcastMessages,
  listUnfinishedBroadcastMessages,
  updateBroadcastMessage,
} from './stores/broadcast-messages.js'
export { findCaller } from './stores/callers.js'
export {
  type CommentWithAuthor,
  createCommitComment,
  findNewestComment,
  listCommitComments,
} from './stores/commit-comments.js'
export { deleteTokensDeadSince } from './stores/expired-tokens.js'
export { listTokens, type TokenFilter, type TokenOrder } from './stores/list-tokens.js'
export {
  createMember,
  deleteMember,
  findMember,
  findMemberWithUser,
  listMembers,
  type MemberWithUser,
  updateMember,
} from './stores/members.js'
export {
  changeDefaultBranch,
  createProject,
  deleteProject,
  findProjectForUser,
  type ListedProject,
  listProjects,
  type NewProject,
  nextProjectId,
  type ProjectChanges,
  type ProjectFilter,
  type ProjectForUser,
  type ProjectOrder,
  type ProjectWithOwner,
  updateProject,
} from './stores/projects.js'
export {
  countProtectedBranches,
  createProtectedBranch,
  deleteProtectedBranch,
  findProtectedBranch,
  listProtectedBranches,
  type NewProtectedBranch,
} from './stores/protected-branches.js'
export { lockProvisioning } from './stores/provisioning.js'
export { findDiskPath } from './stores/repository-locations.js'
export { withRepositoryLock } from './stores/repository-lock.js'
export { ensureSagaEventPartitions } from './stores/saga-event-partitions.js'
export {
  type EndedSaga,
  figuresSweep,
  readEndedCursor,
  readNewlyEnded,
  writeEndedCursor,
} from './stores/sagas/ended-sagas.js'
export {
  type LogEntry,
  type LogPage,
  readLastPosition,
  readLogPage,
  readLogTail,
  readLogWriters,
} from './stores/sagas/feed/read-log.js'
export {
  type FlagCandidate,
  type FlagCutoffs,
  type FlagPage,
  type FlagSource,
  flagSources,
  readFlagPage,
} from './stores/sagas/flag-sources.js'
export {
  type FlagChange,
  type FlagChanges,
  type FlagState,
  readFlagStates,
  writeFlags,
} from './stores/sagas/flags.js'
export {
  readSagaGauges,
  type SagaCount,
  type SagaGauges,
} from './stores/sagas/gauges.js'
export { claimSagas, type SagaClaim, type SagaLeaseGrant } from './stores/sagas/leases/claim.js'
export { extendLease, type LeaseResolution, resolveLease } from './stores/sagas/leases/end.js'
export {
  dropLogPartition,
  isDroppable,
  type LogRange,
  type LogScan,
  listOldLogPartitions,
  scanLog,
  thinLog,
} from './stores/sagas/log-retention.js'
export { type PurgedSaga, purgeSagas } from './stores/sagas/purge-sagas.js'
export * from './stores/sagas/reading/index.js'
export {
  type DerivedRow,
  type LoggedEvent,
  RebuildSession,
  type StoredRow,
} from './stores/sagas/rebuild.js'
export type { NewSagaEvent, RecordedSagaEvent } from './stores/sagas/recording/new-saga-event.js'
export { recordSagaEvents } from './stores/sagas/recording/record-saga-events.js'
export {
  type CommittedBatch,
  createSagaEventStore,
  type SagaEventStore,
  type SagaEventStoreOptions,
} from './stores/sagas/recording/saga-event-store.js'
export {
  type RetentionCandidate,
  type RetentionPage,
  readEnded,
  readExpired,
  readResolved,
  readSettled,
} from './stores/sagas/retention-sources.js'
export {
  holdSweep,
  readSweepPosition,
  releaseSweep,
  type SweepPosition,
  writeSweepPosition,
} from './stores/sagas/sweeps.js'
export type { TenantKey } from './stores/sagas/tenant-key.js'
export { deleteTombstones } from './stores/sagas/tombstones.js'
export * from './stores/statuses/index.js'
export {
  createToken,
  deleteOtherTokens,
  findProjectToken,
  findToken,
  findTokenByHash,
  listBotsOfCreator,
  listProjectTokens,
  type NewToken,
  type ProjectTokenWithLevel,
  recordTokenUse,
  revokeToken,
} from './stores/tokens.js'
export {
  createUser,
  findUser,
  findUserByUsername,
  listUsers,
  lockActiveAdministrators,
  type NewUser,
  type UserChanges,
  type UserFilter,
  type UserOrder,
  type UserState,
  updateUser,
} from './stores/users.js'
export {
  enqueueDeliveries,
  enqueueForProject,
  getDelivery,
  type ListedDelivery,
  listDeliveries,
  type NewDelivery,
  redeliver,
} from './stores/webhooks/deliveries.js'
export {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  type NewWebhook,
  updateWebhook,
  type Webhook,
  type WebhookChanges,
  type WebhookOwner,
} from './stores/webhooks/hooks.js'
export {
  advanceFlagCursor,
  advanceSagaCursor,
  chooseHorizon,
  lastSagaEventId,
  readSagaCursor,
  type SagaCursor,
  settledHorizon,
} from './stores/webhooks/saga-cursor.js'
export {
  type FailedActivity,
  type FlagKey,
  listDecidedSagas,
  listFailedActivities,
  listNewFlags,
  listSagaNews,
  listSagaWebhooks,
  type SagaFlagNews,
  type SagaNews,
  type SagaWebhook,
} from './stores/webhooks/saga-news.js'
export {
  countSecretsByKey,
  type EncryptedSecret,
  listSecretsToEncrypt,
  replaceSecret,
  type StoredSecret,
} from './stores/webhooks/secrets.js'
export {
  type AttemptRecord,
  type ClaimedDelivery,
  claimDelivery,
  deleteDeliveriesBefore,
  disableWebhook,
  listHostsWithDueDeliveries,
  recordAttempt,
  type WebhookHealth,
} from './stores/webhooks/sending.js'
export { violatedUniqueIndex } from './unique-violation.js'
