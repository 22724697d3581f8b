import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { applyRoles, derivePasswords, serviceUrl } from '@switchyard/db/roles'
import { SolvableProblem } from '@switchyard/terminal'
import { execa } from 'execa'
import pg from 'pg'
import type { BackingService } from './backing-services.js'
import type { DatabaseServiceName } from './services.js'

/** Applies the migrations with the one-shot process that production uses. */
export async function applyMigrations(root: string, databaseUrl: string): Promise<void> {
  const script = join(root, 'packages/db/dist/bundle/migrate.js')
  const env = { DATABASE_URL: databaseUrl }
  const result = await execa(process.execPath, [script], { env, all: true, reject: false })
  if (result.failed) {
    throw new SolvableProblem(
      `The migrations failed: ${result.all?.trim().split('\n').at(-1) ?? 'no output'}`,
    )
  }
}

/** Returns whether the database has every migration of this checkout. */
export async function isSchemaCurrent(root: string, databaseUrl: string): Promise<boolean> {
  const shipped = readdirSync(join(root, 'packages', 'db', 'prisma', 'migrations'), { withFileTypes: true })
  const client = new pg.Client({ connectionString: databaseUrl })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ migration_name: string }>(
      'SELECT migration_name FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL',
    )
    const applied = new Set(rows.map((row) => row.migration_name))
    return shipped.filter((entry) => entry.isDirectory()).every(({ name }) => applied.has(name))
  } catch {
    // A new database has no such table. The migrations report any other error.
    return false
  } finally {
    await client.end().catch(() => {})
  }
}

/**
 * Returns the database URL of each service. On the embedded server, each service has its own role, with a
 * password that is derived from that of the server. On an external server, every service uses DATABASE_URL.
 */
export async function prepareLogins({
  url,
  embedded,
}: BackingService): Promise<(service: DatabaseServiceName) => string> {
  if (!embedded) return () => url
  const passwords = derivePasswords(new URL(url).password)
  await applyRoles(url, passwords)
  return (service) => serviceUrl(url, service, passwords[service])
}
