// One-shot process. It applies the migrations to DATABASE_URL, creates the role of each service when the
// passwords are set (POSTGRES_PASSWORD_GIT_API and so on), prints its changes, and exits with 0 or 1. With
// --wait, it changes nothing and ends when another such process has applied the migrations.
import { parseArgs } from 'node:util'
import { commandLineProblem, loadConfig } from '@switchyard/config'
import { applyMonitoringRole, applyRoles, databaseServices, monitoringRole } from '../roles/index.js'
import { applyMigrations } from './apply-migrations.js'
import { type Config, configSchema, rolePasswordsOf } from './config.js'
import { waitForDatabase } from './wait-for-database.js'
import { waitForMigrations } from './wait-for-migrations.js'

/** Longest wait for the database, because the compose file starts both at the same time. */
const databaseWaitMs = 60_000

async function migrate(config: Config): Promise<void> {
  const url = config.DATABASE_URL.reveal()
  const passwords = rolePasswordsOf(config)
  await waitForDatabase(url, databaseWaitMs)
  const { migrations, partitions } = await applyMigrations(url, {
    lockTimeoutMs: config.MIGRATION_LOCK_TIMEOUT_MS,
    onRetry: (reason) => process.stdout.write(`trying again: ${reason}\n`),
  })
  for (const name of migrations) process.stdout.write(`applied ${name}\n`)
  for (const name of partitions) process.stdout.write(`created partition ${name}\n`)
  if (migrations.length === 0) process.stdout.write('the database is up to date\n')
  if (passwords) {
    await applyRoles(url, passwords)
    process.stdout.write(`granted the roles of ${databaseServices.join(', ')}\n`)
  }
  if (!config.POSTGRES_PASSWORD_MONITORING) return
  await applyMonitoringRole(url, config.POSTGRES_PASSWORD_MONITORING.reveal())
  process.stdout.write(`granted the role ${monitoringRole}\n`)
}

async function wait(config: Config): Promise<void> {
  await waitForMigrations(config.DATABASE_URL.reveal(), (reason) =>
    process.stdout.write(`waiting: ${reason}\n`),
  )
}

function readOptions() {
  try {
    return parseArgs({ options: { help: { type: 'boolean' }, wait: { type: 'boolean' } } }).values
  } catch (error) {
    throw new Error(commandLineProblem(error), { cause: error })
  }
}

try {
  const values = readOptions()
  if (values.help) {
    process.stdout.write('Usage: npm run db:migrate -- [--wait]\n')
    process.exit(0)
  }
  const config = loadConfig('migrate', configSchema, process.env)
  await (values.wait ? wait(config) : migrate(config))
} catch (error) {
  process.stderr.write(`migrate: ${oneLine(error)}\n`)
  process.exitCode = 1
}
// A timer of the engine's lock would keep this process alive for ten more seconds.
process.exit()

function oneLine(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message.replaceAll(/\s+/g, ' ').trim()
}
