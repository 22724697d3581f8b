import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { applyMigrations } from '@switchyard/db/migrations'
import { startPostgres } from '@switchyard/local-servers'
import pg from 'pg'

/**
 * Starts a durable PostgreSQL with one migrated database for each name.
 *
 * @param keptDir a folder that is kept with its content
 */
export async function startDatabases<Name extends string>(names: readonly Name[], keptDir?: string) {
  const dataDir = keptDir === undefined ? mkdtempSync(join(tmpdir(), 'switchyard-bench-')) : resolve(keptDir)
  const postgres = await startPostgres({ dataDir, log: console.error })
  const admin = new pg.Client({ connectionString: postgres.adminUrl })
  await admin.connect()
  await recycleSegments(admin)
  const urls = {} as Record<Name, string>
  for (const name of names) {
    const { rowCount } = await admin.query('SELECT FROM pg_database WHERE datname = $1', [name])
    if (rowCount === 0) await admin.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}`)
    urls[name] = postgres.adminUrl.replace(/postgres$/, name)
    await applyMigrations(urls[name])
  }
  const { rows } = await admin.query<{ name: string; setting: string }>(
    "SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes')",
  )
  if (rows.some(({ setting }) => setting !== 'on')) throw new Error('a commit would not be durable')
  const { rows: postmaster } = await admin.query<{ pid: number }>(
    "SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::integer AS pid",
  )
  return {
    urls,
    pid: postmaster[0]?.pid as number,
    async close() {
      await admin.end()
      await postgres.stop()
      if (keptDir === undefined) rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/**
 * Recycles WAL segments. A new segment is filled with zeros and flushed before it is used, while every commit
 * waits. A server that has run for a while reuses segments; so does this one, for the two GB of a run.
 */
async function recycleSegments(admin: pg.Client): Promise<void> {
  await admin.query("ALTER SYSTEM SET min_wal_size = '2GB'")
  await admin.query("ALTER SYSTEM SET max_wal_size = '4GB'")
  await admin.query('SELECT pg_reload_conf()')
  for (let segments = 0; segments < 120; segments += 1) {
    await admin.query("SELECT pg_logical_emit_message(true, 'bench', ''), pg_switch_wal()")
  }
  await admin.query('CHECKPOINT')
}

async function ask(url: string, text: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ answer: number }>(text)
  await client.end()
  return rows[0]?.answer ?? Number.NaN
}

/**
 * Gives the planner the statistics that autovacuum would gather within the first minute of load on a new
 * database.
 */
export async function analyze(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('ANALYZE')
  await client.end()
}

export const countLog = (url: string) => ask(url, 'SELECT count(*)::float8 AS answer FROM saga_events')

/** Throws unless the log has each acknowledged event exactly once, and nothing else. */
export async function checkLog(url: string, acknowledged: number): Promise<void> {
  const rows = await countLog(url)
  const twice = await ask(
    url,
    `SELECT count(*)::float8 AS answer FROM (SELECT FROM saga_events
      GROUP BY operation, saga_id, activity_id, content_key HAVING count(*) > 1) AS several`,
  )
  if (rows !== acknowledged || twice > 0) {
    throw new Error(`${acknowledged} events acknowledged, ${rows} rows in the log, ${twice} of them twice`)
  }
}
