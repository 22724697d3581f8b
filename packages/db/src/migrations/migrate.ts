// One-shot process: applies the migrations to DATABASE_URL, creates the role of each service when the passwords are set
// (POSTGRES_PASSWORD_GIT_API and so on), prints its changes, and exits with 0 or 1.
import { applyRoles, databaseServices, passwordVariableOf, type RolePasswords } from '../roles/index.js'
import { applyMigrations } from './apply-migrations.js'
import { waitForDatabase } from './wait-for-database.js'

/** The compose file starts this process at the same time as the database. */
const databaseWaitMs = 60_000

async function migrate(): Promise<void> {
  const url = process.env.DATABASE_URL
  if (!url)
    throw new Error('DATABASE_URL is not set; example: postgresql://user:password@host:5432/switchyard')
  const passwords = readPasswords(process.env)
  await waitForDatabase(url, databaseWaitMs)
  const { migrations, partitions } = await applyMigrations(url)
  for (const name of migrations) process.stdout.write(`applied ${name}\n`)
  for (const name of partitions) process.stdout.write(`created partition ${name}\n`)
  if (migrations.length === 0) process.stdout.write('the database is up to date\n')
  if (!passwords) return
  await applyRoles(url, passwords)
  process.stdout.write(`granted the roles of ${databaseServices.join(', ')}\n`)
}

/** The passwords of the services' roles; null when none is set. Then all services log in as the user of DATABASE_URL. */
function readPasswords(env: NodeJS.ProcessEnv): RolePasswords | null {
  const given = databaseServices.map((service) => [service, env[passwordVariableOf(service)] ?? ''] as const)
  const missing = given
    .filter(([, password]) => password === '')
    .map(([service]) => passwordVariableOf(service))
  if (missing.length === databaseServices.length) return null
  if (missing.length > 0)
    throw new Error(`set all passwords of services or none; missing: ${missing.join(', ')}`)
  return Object.fromEntries(given) as RolePasswords
}

try {
  await migrate()
} catch (error) {
  process.stderr.write(`migrate: ${describe(error)}\n`)
  process.exitCode = 1
}
// A timer of the engine's lock would keep this process alive for ten more seconds.
process.exit()

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if ('code' in error && error.code === 'ERR_INVALID_URL') return 'DATABASE_URL is not a URL'
  return error.message.replaceAll(/\s+/g, ' ').trim()
}
