import { accessLevels } from '@switchyard/domain/access'
import pg from 'pg'
import type { DatabaseDump } from '../manifest.js'
import {
  backupOf,
  idsOf,
  newId,
  type ProjectTable,
  projectTables,
  webhookWithLostSecret,
} from './project-tables.js'

/** The target of a restored project. */
export interface NewProject {
  id: number
  /** Names of its owner and of the project. */
  namespace: string
  path: string
  diskPath: string
  /** Bytes of the objects of git. */
  repositoryBytes: number
}

/**
 * Adds the staged project with all its rows, in the transaction of the connection.
 *
 * @returns the number of rows; null when the owner is gone or the path is taken meanwhile
 */
export async function insertProject(
  client: pg.Client,
  { tables }: DatabaseDump,
  project: NewProject,
): Promise<number | null> {
  const { rows: owners } = await client.query<{ id: number; username: string }>(
    'SELECT id, username FROM users WHERE username_key = lower($1) FOR SHARE',
    [project.namespace],
  )
  const [owner] = owners
  if (!owner) return null
  const fullPath = `${owner.username}/${project.path}`
  const values = {
    id: String(project.id),
    path: pg.escapeLiteral(project.path),
    path_with_namespace: pg.escapeLiteral(fullPath),
    path_key: pg.escapeLiteral(fullPath.toLowerCase()),
    owner_id: String(owner.id),
    disk_path: pg.escapeLiteral(project.diskPath),
  }
  const columnsOf = (name: string) => tables.find((table) => table.name === name)?.columns ?? []
  const added = await insertRows(
    client,
    { name: 'projects', values },
    columnsOf('projects'),
    'ON CONFLICT DO NOTHING',
  )
  if (added === 0) return null
  let count = added
  for (const table of projectTables) count += await insertRows(client, table, columnsOf(table.name))
  await client.query(
    `INSERT INTO project_members (project_id, user_id, access_level) VALUES ($1, $2, $3)
     ON CONFLICT (project_id, user_id) DO UPDATE SET access_level = $3, expires_at = NULL`,
    [project.id, owner.id, accessLevels.owner],
  )
  await client.query(
    `INSERT INTO storage_uses (project_id, repository_bytes) VALUES ($1, $2)
     ON CONFLICT (project_id) DO UPDATE SET repository_bytes = excluded.repository_bytes`,
    [project.id, project.repositoryBytes],
  )
  return count
}

async function insertRows(
  client: pg.Client,
  { name, references = {}, values = {}, where = 'true' }: ProjectTable,
  columns: readonly string[],
  onConflict = '',
): Promise<number> {
  const newIds: Record<string, string> = { id: name, project_id: 'projects', ...references }
  const sqlOf = (column: string) => {
    const table = newIds[column]
    return values[column] ?? (table ? newId(table, column) : `r.${pg.escapeIdentifier(column)}`)
  }
  const { rowCount } = await client.query(
    `INSERT INTO ${pg.escapeIdentifier(name)} (${columns.map((column) => pg.escapeIdentifier(column)).join(', ')})
     SELECT ${columns.map(sqlOf).join(', ')} FROM ${backupOf(name)} r WHERE ${where} ${onConflict}`,
  )
  return rowCount ?? 0
}

/** The parts of a project that could not be restored, for operators. */
export interface Losses {
  /** Names of people in the project who are unknown in this installation. */
  unknownUsers: string[]
  /** Number of members by groups of single sign-on. */
  membersOfGroups: number
  webhooks: number
  webhooksWithLostSecret: number
}

/** Returns the parts of the staged project that cannot be restored. */
export async function readLosses(client: pg.Client): Promise<Losses> {
  const usersIn = projectTables.flatMap(({ name, references = {} }) =>
    Object.entries(references)
      .filter(([, table]) => table === 'users')
      .map(([column]) => `SELECT ${column} FROM ${backupOf(name)}`),
  )
  const { rows: unknown } = await client.query<{ username: string }>(
    `SELECT username FROM ${backupOf('users')} b WHERE NOT bot AND id IN (${usersIn.join(' UNION ')})
     AND NOT EXISTS (SELECT FROM ${idsOf('users')} m WHERE m.old = b.id) ORDER BY 1`,
  )
  const { rows } = await client.query<Omit<Losses, 'unknownUsers'>>(
    `SELECT (SELECT count(*)::int FROM ${backupOf('project_members')} WHERE identity_id IS NOT NULL) AS "membersOfGroups",
       count(*)::int AS webhooks, count(*) FILTER (WHERE ${webhookWithLostSecret})::int AS "webhooksWithLostSecret"
     FROM ${backupOf('webhooks')} r`,
  )
  const [counts] = rows
  if (!counts) throw new Error('the query returned no row')
  return { unknownUsers: unknown.map(({ username }) => username), ...counts }
}

/**
 * Records the ids of the keys that secrets of webhooks may have.
 *
 * @param every whether the installation has all keys of the backup; otherwise it has those that its own
 * webhooks use
 */
export async function noteKnownKeys(client: pg.Client, { every }: { every: boolean }): Promise<void> {
  const source = every ? backupOf('webhooks') : 'webhooks'
  const columns = ['secret_key_id', 'previous_secret_key_id', 'headers_key_id']
  await client.query(`CREATE TEMP TABLE known_keys (id text PRIMARY KEY);
    INSERT INTO known_keys ${columns.map((column) => `SELECT ${column} FROM ${source} WHERE ${column} IS NOT NULL`).join(' UNION ')}`)
}
