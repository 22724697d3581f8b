export type { Pool, PoolClient } from 'pg'
export * from './client.js'
export * from './database-failure.js'
export {
  type AuditEvent,
  type AuditExport,
  type BroadcastMessage,
  type CommitComment,
  type CommitStatus,
  type Deployment,
  type DeploymentApproval,
  type DeploymentDismissal,
  type DeploymentFailure,
  type DeploymentFinding,
  type DeploymentImpact,
  type DeployToken,
  type DeviceAuthorization,
  type Environment,
  type FreezePeriod,
  type Identity,
  type ImpactRule,
  type ImpactRuleRun,
  type LfsLock,
  type Package,
  type PackageFile,
  type PersonalAccessToken,
  type Pipeline,
  Prisma,
  type Project,
  type ProjectMember,
  type ProtectedBranch,
  type ProtectedEnvironment,
  type ProtectedTag,
  type Release,
  type ReleaseLink,
  type RepositoryStorageMove,
  type Saga,
  type SagaActivity,
  type SagaEvent,
  type SavedView,
  type Session,
  type TrustedIssuer,
  type Upload,
  type User,
  type Webhook,
  type WebhookDelivery,
} from './generated/client.js'
export * from './memberships.js'
export * from './open-database.js'
export * from './pool-transaction.js'
export { sequenceHorizon } from './sequence-horizon.js'
export * from './stores/audit-events.js'
export * from './stores/broadcast-messages.js'
export * from './stores/callers.js'
export * from './stores/impact-rules.js'
export * from './stores/lfs.js'
export * from './stores/maintenance-lock.js'
export * from './stores/repository-locations.js'
export * from './stores/require-unchanged.js'
export * from './stores/storage-uses.js'
