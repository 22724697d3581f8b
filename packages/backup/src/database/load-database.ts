import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { applyMigrations, listShippedMigrations } from '@switchyard/db/migrations'
import { SolvableProblem } from '@switchyard/terminal'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { type DatabaseDump, type TableFile, tableFileOf } from '../manifest.js'
import { withClient } from './with-client.js'

/**
 * Refuses a database that is not empty.
 *
 * @throws SolvableProblem when the database at `url` has a table
 */
export function refuseTables(url: string): Promise<void> {
  return withClient(url, async (client) => {
    const { rowCount } = await client.query(
      "SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') LIMIT 1",
    )
    if (rowCount !== 0)
      throw new SolvableProblem(
        'The database has tables: restore into an empty database, for example a new one',
      )
  })
}

/** Creates the schema of a dump in an empty database. */
export async function createSchema(url: string, { migrations }: DatabaseDump): Promise<void> {
  const shipped = await listShippedMigrations()
  await applyMigrations(url, { shipped: shipped.filter(({ name }) => migrations.includes(name)) })
}

/** Loads the rows of a dump into its schema, in one transaction, and applies the later migrations. */
export async function loadRows(url: string, dump: DatabaseDump, folder: string): Promise<void> {
  await withClient(url, async (client) => {
    await client.query('BEGIN')
    await client.query(
      "SELECT ensure_saga_event_partitions(to_date(day, 'YYYYMMDD'), 1) FROM unnest($1::text[]) AS day",
      [dump.logDays],
    )
    // The migrations have inserted rows that are also in the dump.
    await client.query(`TRUNCATE ${dump.tables.map(({ name }) => pg.escapeIdentifier(name)).join(', ')}`)
    for (const table of await inOrderOfReferences(client, dump.tables))
      await loadTable(client, table, join(folder, tableFileOf(table.name)))
    for (const { name, lastValue } of dump.sequences)
      await client.query('SELECT setval($1::regclass, $2)', [pg.escapeIdentifier(name), lastValue])
    await client.query('COMMIT')
    await client.query('ANALYZE')
  })
  await applyMigrations(url)
}

async function loadTable(client: pg.Client, { name, columns, rows }: TableFile, file: string): Promise<void> {
  const target = `${pg.escapeIdentifier(name)} (${columns.map((column) => pg.escapeIdentifier(column)).join(', ')})`
  const copy = client.query(copyFrom(`COPY ${target} FROM STDIN`))
  await pipeline(createReadStream(file), createGunzip(), copy)
  if (copy.rowCount !== rows) throw new Error(`${name} has ${copy.rowCount} rows instead of ${rows}`)
}

/** Returns the tables in an order in which each comes after those that its foreign keys name. */
async function inOrderOfReferences(client: pg.Client, tables: TableFile[]): Promise<TableFile[]> {
  const { rows: references } = await client.query<{ from: string; to: string }>(
    `SELECT f.relname::text AS "from", t.relname::text AS "to" FROM pg_constraint k
     JOIN pg_class f ON f.oid = k.conrelid JOIN pg_class t ON t.oid = k.confrelid
     WHERE k.contype = 'f' AND f.oid <> t.oid`,
  )
  const ordered: TableFile[] = []
  let waiting = tables
  while (waiting.length > 0) {
    const names = new Set(waiting.map(({ name }) => name))
    const waits = ({ name }: TableFile) => references.some(({ from, to }) => from === name && names.has(to))
    const ready = waiting.filter((table) => !waits(table))
    if (ready.length === 0) throw new Error(`foreign keys form a cycle: ${[...names].join(', ')}`)
    ordered.push(...ready)
    waiting = waiting.filter(waits)
  }
  return ordered
}
