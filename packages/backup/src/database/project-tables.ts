import { administratorLevel } from '@switchyard/domain/access'

/** The conversion of a project's rows in a backup to rows of a new project. `r` is the row of the backup. */
export interface ProjectTable {
  name: string
  /**
   * Columns with the id of another row, and the table of that row. `id` and `project_id` need not be named.
   */
  references?: Readonly<Record<string, string>>
  /** Columns whose value is not that of the backup, with the SQL of the value. */
  values?: Readonly<Record<string, string>>
  /** Condition of the rows that are restored; unset: all. */
  where?: string
}

/**
 * Returns SQL for the new id of the row of a table that a column names; null when it has none, as for an
 * unknown user.
 */
export const newId = (table: string, column: string): string =>
  `(SELECT m.new FROM ${idsOf(table)} m WHERE m.old = r.${column})`

/** Returns the name of the temporary table with the old and the new id of each row of a table. */
export const idsOf = (table: string): string => `pg_temp.new_ids_of_${table}`

/** Returns the name of the temporary table with the rows of a table in the backup. */
export const backupOf = (table: string): string => `pg_temp.backup_of_${table}`

const knownUser = (column: string, condition = 'true') =>
  `EXISTS (SELECT FROM ${idsOf('users')} m WHERE m.old = r.${column} AND ${condition})`

const administrators = `{"userId": null, "accessLevel": ${administratorLevel}}`

/**
 * Returns SQL that replaces unknown users by administrators, so that an environment is never less protected
 * than before.
 */
const parties = (column: string) =>
  `(SELECT coalesce(jsonb_agg(p.party || CASE WHEN p.party->>'userId' IS NULL THEN '{}'
      WHEN m.new IS NULL THEN '${administrators}' ELSE jsonb_build_object('userId', m.new) END ORDER BY p.position), '[]')
    FROM jsonb_array_elements(r.${column}) WITH ORDINALITY p (party, position)
    LEFT JOIN ${idsOf('users')} m ON m.old = (p.party->>'userId')::bigint)`

/** A link to a file of the project itself may contain the id of the project. */
const linkUrl = `CASE WHEN EXISTS (SELECT FROM ${backupOf('packages')} f
      WHERE position('/packages/generic/' || f.name || '/' || f.version || '/' IN r.url) > 0)
    OR EXISTS (SELECT FROM ${backupOf('uploads')} f WHERE position('/uploads/' || f.secret || '/' IN r.url) > 0)
  THEN (SELECT regexp_replace(r.url, '(/api/v4/projects|/-/project)/' || m.old || '/', '\\1/' || m.new || '/')
    FROM ${idsOf('projects')} m)
  ELSE r.url END`

/**
 * Returns SQL that drops a value that is encrypted with a missing key, because it would keep the worker from
 * being ready.
 */
const whereKeyIsKnown = (column: string, keyColumn: string, otherwise = 'NULL') =>
  `CASE WHEN EXISTS (SELECT FROM pg_temp.known_keys k WHERE k.id = r.${keyColumn}) THEN r.${column} ELSE ${otherwise} END`

const webhookValues = {
  enabled: 'false',
  disabled_reason: "'restored from a backup'",
  disabled_at: 'now()',
  failing_since: 'NULL',
  consecutive_failures: '0',
  secret: 'NULL',
  encrypted_secret: whereKeyIsKnown('encrypted_secret', 'secret_key_id'),
  secret_key_id: whereKeyIsKnown('secret_key_id', 'secret_key_id'),
  previous_secret: whereKeyIsKnown('previous_secret', 'previous_secret_key_id'),
  previous_secret_key_id: whereKeyIsKnown('previous_secret_key_id', 'previous_secret_key_id'),
  previous_secret_until: whereKeyIsKnown('previous_secret_until', 'previous_secret_key_id'),
  header_names: whereKeyIsKnown('header_names', 'headers_key_id', "'{}'"),
  encrypted_headers: whereKeyIsKnown('encrypted_headers', 'headers_key_id'),
  headers_key_id: whereKeyIsKnown('headers_key_id', 'headers_key_id'),
}

/** Condition of members that a person has added. Roles of groups are assigned at the next sign-in. */
const member = `r.identity_id IS NULL AND ${knownUser('user_id', 'NOT m.bot')}`

/** Condition of a webhook with a part that is encrypted with an unknown key, or not encrypted. */
export const webhookWithLostSecret = `r.secret IS NOT NULL OR EXISTS (
  SELECT FROM unnest(ARRAY[r.secret_key_id, r.headers_key_id]) AS u (id)
  WHERE u.id IS NOT NULL AND NOT EXISTS (SELECT FROM pg_temp.known_keys k WHERE k.id = u.id))`

/**
 * The tables of a project, each after those that its foreign keys name. Tokens and rules about trusted CI
 * jobs are left out, because some of them may have been revoked since. Short-lived rows and rows about the
 * old repository are left out, too.
 */
export const projectTables: readonly ProjectTable[] = [
  { name: 'project_members', references: { user_id: 'users' }, where: member },
  { name: 'protected_branches' },
  { name: 'protected_tags' },
  { name: 'lfs_objects' },
  { name: 'packages', references: { creator_id: 'users' } },
  { name: 'package_files', references: { package_id: 'packages' } },
  { name: 'uploads', references: { uploader_id: 'users' } },
  { name: 'storage_uses' },
  { name: 'lfs_locks', references: { owner_id: 'users' }, where: knownUser('owner_id') },
  { name: 'releases', references: { author_id: 'users' } },
  { name: 'release_links', references: { release_id: 'releases' }, values: { url: linkUrl } },
  { name: 'pipelines', references: { author_id: 'users' } },
  { name: 'commit_statuses', references: { pipeline_id: 'pipelines', author_id: 'users' } },
  {
    name: 'status_reports',
    references: { pipeline_id: 'pipelines', status_id: 'commit_statuses', author_id: 'users' },
  },
  { name: 'environments' },
  { name: 'deployments', references: { environment_id: 'environments', user_id: 'users' } },
  { name: 'deployment_impacts', references: { deployment_id: 'deployments' } },
  { name: 'deployment_findings', references: { deployment_id: 'deployments' } },
  { name: 'deployment_dismissals', references: { deployment_id: 'deployments', user_id: 'users' } },
  { name: 'deployment_failures', references: { deployment_id: 'deployments', user_id: 'users' } },
  {
    name: 'deployment_changes',
    references: { deployment_id: 'deployments', rolls_back_id: 'deployments' },
  },
  { name: 'impact_rules' },
  {
    name: 'impact_rule_runs',
    references: {
      rule_id: 'impact_rules',
      deployment_id: 'deployments',
      environment_id: 'environments',
      ended_by: 'users',
    },
  },
  {
    name: 'protected_environments',
    values: {
      deploy_access_levels: parties('deploy_access_levels'),
      approval_rules: parties('approval_rules'),
    },
  },
  { name: 'deployment_approvals', references: { deployment_id: 'deployments', user_id: 'users' } },
  { name: 'freeze_periods' },
  { name: 'commit_comments', references: { discussion_id: 'commit_comments', author_id: 'users' } },
  { name: 'job_commits' },
  { name: 'webhooks', references: { created_by: 'users' }, values: webhookValues },
]
