import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { applyMigrations } from '../src/migrations/index.js'

/** Runs `work` on a new database that has every shipped migration, and drops it afterwards. */
export async function withMigratedScratchDatabase<T>(work: (url: string) => Promise<T>): Promise<T> {
  const adminUrl = process.env.SWITCHYARD_TEST_DATABASE_URL ?? process.env.DATABASE_URL
  if (!adminUrl)
    throw new Error(
      'needs a PostgreSQL: run `pnpm db:diff` or `pnpm db:drift` at the root, or set DATABASE_URL',
    )
  const name = `switchyard_scratch_${randomBytes(6).toString('hex')}`
  const admin = new pg.Client({ connectionString: adminUrl, connectionTimeoutMillis: 5000 })
  await admin.connect()
  try {
    await admin.query(`CREATE DATABASE ${name}`)
    const url = new URL(adminUrl)
    url.pathname = `/${name}`
    await applyMigrations(url.href)
    return await work(url.href)
  } finally {
    await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    await admin.end()
  }
}
