/** The services that log in to PostgreSQL, each with its own role. */
export const databaseServices = [
  'git-api',
  'admin-broadcast',
  'jobqueue-metrics',
  'saga-reporter',
  'worker',
] as const

export type DatabaseService = (typeof databaseServices)[number]

/**
 * The rights of a service on the rows of a table. `write`: read, add, change and delete; `append`: read and
 * add; `purge`: read and delete; `append-and-purge`: read, add and delete; `read`: read.
 */
export type Access = 'write' | 'append' | 'purge' | 'append-and-purge' | 'read'

const everyService = Object.fromEntries(databaseServices.map((service) => [service, 'read'])) as Record<
  DatabaseService,
  'read'
>
const ofSagas = { 'saga-reporter': 'write', worker: 'purge' } as const
const ofWebhooks = { 'git-api': 'write', 'saga-reporter': 'write', worker: 'write' } as const

/**
 * Rights by table and service; a service that is not listed has none. A test compares them with
 * schema.prisma.
 */
export const tableAccess: Record<string, Partial<Record<DatabaseService, Access>>> = {
  // Every service looks up the token of a session, the user of a token, and the creator of a project token.
  users: { ...everyService, 'git-api': 'write' },
  personal_access_tokens: { ...everyService, 'git-api': 'write', worker: 'purge' },
  sessions: { ...everyService, 'git-api': 'write', worker: 'purge' },
  identities: { 'git-api': 'write' },
  device_authorizations: { 'git-api': 'write' },
  // Every service accepts the identity tokens of CI jobs.
  trusted_issuers: {
    'git-api': 'write',
    'saga-reporter': 'read',
    'admin-broadcast': 'read',
    'jobqueue-metrics': 'read',
  },
  job_commits: { 'git-api': 'write' },
  exchanged_identities: { 'git-api': 'write' },
  projects: { ...everyService, 'git-api': 'write' },
  repository_storage_moves: { 'git-api': 'write' },
  saved_views: { 'git-api': 'write' },
  project_members: { 'git-api': 'write' },
  protected_branches: { 'git-api': 'write' },
  lfs_objects: { 'git-api': 'write', worker: 'write' },
  packages: { 'git-api': 'write' },
  package_files: { 'git-api': 'write', worker: 'read' },
  uploads: { 'git-api': 'write', worker: 'read' },
  storage_uses: { 'git-api': 'write', worker: 'write' },
  lfs_locks: { 'git-api': 'write' },
  deploy_tokens: { 'git-api': 'write' },
  protected_tags: { 'git-api': 'write' },
  releases: { 'git-api': 'write' },
  release_links: { 'git-api': 'write' },
  commit_statuses: { 'git-api': 'write' },
  pipelines: { 'git-api': 'write' },
  status_reports: { 'git-api': 'write', worker: 'read' },
  commit_comments: { 'git-api': 'write' },
  // saga-reporter shows a saga with its deployments.
  environments: { 'git-api': 'write', 'saga-reporter': 'read', worker: 'read' },
  protected_environments: { 'git-api': 'write' },
  deployment_approvals: { 'git-api': 'write' },
  deployments: { 'git-api': 'write', 'saga-reporter': 'read', worker: 'read' },
  deployment_impacts: { 'git-api': 'read', worker: 'write' },
  deployment_findings: { 'git-api': 'read', worker: 'write' },
  deployment_dismissals: { 'git-api': 'write', worker: 'read' },
  deployment_changes: { 'git-api': 'write' },
  deployment_failures: { 'git-api': 'write' },
  impact_rules: { 'git-api': 'write', worker: 'read' },
  impact_rule_runs: { 'git-api': 'write', worker: 'write' },
  freeze_periods: { 'git-api': 'write' },
  audit_events: {
    'git-api': 'append',
    'admin-broadcast': 'append',
    'jobqueue-metrics': 'append',
    'saga-reporter': 'append',
    // The rules of the delivery loop record what they do.
    worker: 'append-and-purge',
  },
  // git-api shows the exports to administrators.
  audit_exports: { worker: 'write', 'git-api': 'read' },
  broadcast_messages: { 'admin-broadcast': 'write', worker: 'write' },
  saga_events: ofSagas,
  saga_event_ids: ofSagas,
  sagas: ofSagas,
  saga_activities: ofSagas,
  saga_tags: ofSagas,
  saga_leases: ofSagas,
  saga_commands: ofSagas,
  saga_notes: ofSagas,
  saga_errors: ofSagas,
  saga_bulk_jobs: { 'saga-reporter': 'write' },
  saga_bulk_items: { 'saga-reporter': 'write' },
  saga_flags: { worker: 'write', 'saga-reporter': 'read' },
  saga_tombstones: { worker: 'write', 'saga-reporter': 'read' },
  saga_sweeps: { worker: 'write' },
  webhooks: ofWebhooks,
  webhook_deliveries: ofWebhooks,
  foreseen_changes: { 'git-api': 'write' },
  webhook_cursors: { worker: 'write' },
  // The readiness check compares it with the migrations of the service.
  _prisma_migrations: everyService,
}

/**
 * Tables whose rows a purging service locks before it deletes them, with a column that it may update, because
 * PostgreSQL requires a right to update for a row lock.
 */
export const lockedWhenPurged: Record<string, string> = { sagas: 'tenant', saga_activities: 'tenant' }

/** Functions that run with the rights of the schema's owner, and the services that may call them. */
export const ownerFunctions: Record<string, readonly DatabaseService[]> = {
  'analyze_new_saga_tables()': ['saga-reporter'],
  'ensure_saga_event_partitions(date, integer)': ['worker'],
  'drop_saga_event_partition(text)': ['worker'],
  'erase_user_from_audit_log(integer, text)': ['git-api'],
  'erase_user_from_sagas(integer, text[])': ['git-api'],
}

/** The services that may create temporary tables. The rebuild of sagas uses them. */
export const temporaryTables: readonly DatabaseService[] = ['saga-reporter']

/**
 * Returns the environment variable with the password of a service's role, e.g. `POSTGRES_PASSWORD_GIT_API`.
 */
export const passwordVariableOf = (service: DatabaseService): string =>
  `POSTGRES_PASSWORD_${service.toUpperCase().replaceAll('-', '_')}`

/** Returns the name of a service's role, e.g. `switchyard_git_api`. */
export const roleOf = (service: DatabaseService): string => `switchyard_${service.replaceAll('-', '_')}`

/** The role of an exporter of PostgreSQL's metrics. */
export const monitoringRole = 'switchyard_monitoring'
