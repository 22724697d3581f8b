import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { applyMigrations } from '../src/migrations/index.js'

export interface ScratchDatabase {
  url: string
  drop(): Promise<void>
}

/** Creates an empty database on the server of the tests, or otherwise on that of DATABASE_URL. */
export async function createScratchDatabase(): Promise<ScratchDatabase> {
  const adminUrl = process.env.SWITCHYARD_TEST_DATABASE_URL ?? process.env.DATABASE_URL
  if (!adminUrl)
    throw new Error(
      'no PostgreSQL to work on: run `npm test`, `pnpm generate migration` or `pnpm check drift`',
    )
  const name = `switchyard_scratch_${randomBytes(6).toString('hex')}`
  await execute(adminUrl, `CREATE DATABASE ${name}`)
  const url = new URL(adminUrl)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => execute(adminUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) }
}

/** Runs `work` on a new database that has every shipped migration, and drops it afterwards. */
export async function withMigratedScratchDatabase<T>(work: (url: string) => Promise<T>): Promise<T> {
  const { url, drop } = await createScratchDatabase()
  try {
    await applyMigrations(url)
    return await work(url)
  } finally {
    await drop()
  }
}

async function execute(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
