import type { Secret } from '@switchyard/config'
import type pg from 'pg'
import { createDatabase, type Database, type DatabaseOptions, type Pooled } from './client.js'
import { listShippedMigrationNames } from './migrations/shipped-migrations.js'

const undefinedTable = '42P01'

interface DatabaseConfig {
  DATABASE_URL: Secret
  DATABASE_POOL_SIZE_MAX: number
}

/** The parts of the `ServiceContext` of the service kit that a database needs. */
interface Dependencies {
  health: { addCheck(part: string, check: () => Promise<unknown>): void }
  lifecycle: { onClose(name: string, close: () => Promise<unknown>): void }
}

/**
 * Opens the database of a service. The readiness of the service checks it, and it closes with the service.
 */
export function openDatabase(
  { DATABASE_URL: url, DATABASE_POOL_SIZE_MAX: poolSizeMax }: DatabaseConfig,
  applicationName: string,
  { health, lifecycle }: Dependencies,
  { answerTimeoutMs }: Pick<DatabaseOptions, 'answerTimeoutMs'> = {},
): Database {
  const database = createDatabase({ url: url.reveal(), poolSizeMax, applicationName, answerTimeoutMs })
  lifecycle.onClose('postgres', () => database.close())
  health.addCheck('postgres', () => checkDatabase(database))
  return database
}

/**
 * Rejects unless the database answers and has every migration of this version. The message names the problem
 * and holds no secret. Later migrations are accepted, because services of two versions run during an update.
 */
export async function checkDatabase({ pool }: Pooled): Promise<void> {
  const applied = await readAppliedMigrationNames(pool)
  const pending = (await listShippedMigrationNames()).filter((name) => !applied.has(name))
  if (pending.length > 0) throw new Error(`migrations pending: ${pending.join(', ')}`)
}

/** Returns the names of the migrations that the database has; none when it is empty. */
export async function readAppliedMigrationNames(client: Pick<pg.ClientBase, 'query'>): Promise<Set<string>> {
  try {
    const { rows } = await client.query<{ migration_name: string }>(
      'SELECT migration_name FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL',
    )
    return new Set(rows.map((row) => row.migration_name))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
    if (code === undefinedTable) return new Set()
    // The error of a refused connection has a list of attempts and no message.
    throw new Error(`database does not answer (${code ?? 'connection failed'})`, { cause: error })
  }
}
