// Measures the duration of each migration since the baseline on a database with millions of sagas, and how
// long a writer waits meanwhile. Two steps are typical migrations of large tables: a column with a default,
// and an index that is built CONCURRENTLY.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createDatabase } from '@switchyard/db'
import { applyMigrations, listShippedMigrations, type ShippedMigration } from '@switchyard/db/migrations'
import { startPostgres } from '@switchyard/local-servers'
import pg from 'pg'
import { fill, sagaCount } from '../../support/fill-sagas.js'

/** A given folder is kept, so that the next run finds it filled. */
const dataDir = process.env.DATA_DIR ?? mkdtempSync(join(tmpdir(), 'switchyard-bench-'))
const writeEveryMs = 10

const examples: ShippedMigration[] = [
  { name: '99990101000000_column', sql: 'ALTER TABLE sagas ADD COLUMN bench integer NOT NULL DEFAULT 0' },
  {
    name: '99990101000001_index',
    sql: 'CREATE INDEX CONCURRENTLY sagas_bench ON sagas (service_name, last_event_at)',
  },
]

const change = `UPDATE sagas SET last_event_at = last_event_at WHERE tenant = 'default' AND id = $1`

/** Changes a saga repeatedly until it is stopped; returns the longest duration of a change. */
function startWriter(url: string) {
  const client = new pg.Client({ connectionString: url })
  const stopping = new AbortController()
  let longestMs = 0
  const run = async () => {
    await client.connect()
    const { rows } = await client.query<{ id: string }>('SELECT id FROM sagas LIMIT 100')
    for (let turn = 0; !stopping.signal.aborted; turn += 1) {
      const startedAt = performance.now()
      await client.query(change, [rows[turn % rows.length]?.id])
      longestMs = Math.max(longestMs, performance.now() - startedAt)
      await delay(writeEveryMs)
    }
    await client.end()
  }
  const running = run()
  return {
    async stop() {
      stopping.abort()
      await running
      return longestMs
    },
  }
}

const postgres = await startPostgres({ dataDir: resolve(dataDir), log: console.error })
try {
  const shipped = await listShippedMigrations()
  const old = shipped.slice(0, 1)
  await applyMigrations(postgres.url, { shipped: old })
  const database = createDatabase({
    url: postgres.url,
    poolSizeMax: 2,
    applicationName: 'bench',
    answerTimeoutMs: 0,
  })
  const { rows } = await database.pool.query('SELECT FROM sagas LIMIT 1')
  if (rows.length === 0) await fill(database, console.error)
  await database.close()
  console.log(`| migration, ${sagaCount.toLocaleString('en')} sagas | seconds | longest wait of a writer |`)
  const done = [...old]
  for (const step of [...shipped.slice(old.length), ...examples]) {
    done.push(step)
    const writer = startWriter(postgres.url)
    const startedAt = performance.now()
    await applyMigrations(postgres.url, { shipped: done })
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
    console.log(`| ${step.name.replace(/^\d+_/, '')} | ${seconds} | ${(await writer.stop()).toFixed(0)} ms |`)
  }
} finally {
  await postgres.stop()
  if (!process.env.DATA_DIR) rmSync(dataDir, { recursive: true, force: true })
}
