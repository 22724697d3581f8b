import { join } from 'node:path'
import { SolvableProblem } from '@switchyard/terminal'
import pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { writeCompressed } from '../files.js'
import { type DatabaseDump, type TableFile, tableFileOf } from '../manifest.js'
import { withClient } from './with-client.js'

export interface Dump extends DatabaseDump {
  /** Time of the snapshot. Everything that was acknowledged before is in the dump. */
  cut: Date
  /** The repositories of all projects. */
  stored: StoredRepository[]
}

export interface StoredRepository {
  diskPath: string
  storage: string
}

/** Name of the file with SHA-256, size and repository of each LFS object. */
export const lfsRowsFile = 'lfs-rows.tsv.gz'

/** Tables that hold rows, without those of extensions. A partition belongs to its table. */
const tablesSql = `SELECT c.relname::text AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND c.relname <> '_prisma_migrations' AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
  GROUP BY c.relname ORDER BY c.relname`

/** The applied migrations, without those that the baseline replaces, which are recorded before it. */
const migrationsSql = `SELECT migration_name FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL
  AND started_at >= COALESCE((SELECT max(started_at) FROM _prisma_migrations WHERE migration_name = '0_baseline'), '-infinity')
  ORDER BY 1`

const logDaysSql = `SELECT right(c.relname, 8) AS day FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
  WHERE i.inhparent = 'saga_events'::regclass AND c.relname ~ '^saga_events_[0-9]{8}$' ORDER BY 1`

/**
 * Writes every table into a folder, as one file of PostgreSQL's text format for COPY. All are from one
 * snapshot, while others read and write. Memory does not grow with the rows.
 */
export function dumpDatabase(url: string, folder: string): Promise<Dump> {
  return withClient(url, async (client) => {
    const tables = await listTables(client)
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    // The locks come before the first query, which takes the snapshot, because a table that was dropped or
    // emptied in between would lack rows.
    await client.query(`LOCK TABLE ${tables.map(({ name }) => quoted(name)).join(', ')} IN ACCESS SHARE MODE`)
    const cut = await readValue<Date>(client, 'SELECT statement_timestamp()')
    if (JSON.stringify(await listTables(client)) !== JSON.stringify(tables))
      throw new SolvableProblem('The schema has just changed: back up again when the migrations are done')
    const dump = {
      cut,
      migrations: await listMigrations(client),
      logDays: await readColumn(client, logDaysSql),
      stored: await listRepositories(client),
      tables: [] as TableFile[],
    }
    for (const table of tables) dump.tables.push(await dumpTable(client, table, folder))
    await dumpLfsRows(client, folder)
    const { rows: sequences } = await client.query<DatabaseDump['sequences'][number]>(
      `SELECT sequencename::text AS name, last_value::text AS "lastValue" FROM pg_sequences
       WHERE schemaname = 'public' AND last_value IS NOT NULL ORDER BY 1`,
    )
    await client.query('COMMIT')
    return { ...dump, sequences }
  })
}

async function listRepositories(client: pg.Client): Promise<StoredRepository[]> {
  const { rows } = await client.query<StoredRepository>(
    'SELECT disk_path AS "diskPath", storage FROM projects ORDER BY 1',
  )
  return rows
}

/**
 * Lists the names of the storages that have projects.
 *
 * @throws SolvableProblem when the database has no tables
 */
export const listStorages = (url: string): Promise<string[]> =>
  withClient(url, async (client) => {
    await listTables(client)
    return readColumn(client, 'SELECT DISTINCT storage FROM projects ORDER BY 1')
  })

/** Lists the names of the applied migrations. */
export const listMigrations = (client: pg.Client): Promise<string[]> => readColumn(client, migrationsSql)

type Table = Pick<TableFile, 'name' | 'columns'>

async function listTables(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<Table>(tablesSql)
  if (rows.length === 0) throw new SolvableProblem('The database has no tables: nothing to back up')
  return rows
}

const quoted = (name: string) => pg.escapeIdentifier(name)

async function dumpTable(client: pg.Client, { name, columns }: Table, folder: string): Promise<TableFile> {
  // A partitioned table can only be copied by a query.
  const rows = client.query(
    copyTo(`COPY (SELECT ${columns.map(quoted).join(', ')} FROM ${quoted(name)}) TO STDOUT`),
  )
  const sha256 = await writeCompressed(join(folder, tableFileOf(name)), rows)
  return { name, columns, rows: rows.rowCount, sha256 }
}

/** Writes the rows of LFS objects. No value of these columns contains a character that COPY escapes. */
async function dumpLfsRows(client: pg.Client, folder: string): Promise<void> {
  const rows = client.query(
    copyTo(
      'COPY (SELECT o.oid, o.size, p.disk_path FROM lfs_objects o JOIN projects p ON p.id = o.project_id ORDER BY 1) TO STDOUT',
    ),
  )
  await writeCompressed(join(folder, lfsRowsFile), rows)
}

async function readColumn(client: pg.Client, sql: string): Promise<string[]> {
  const { rows } = await client.query<[string]>({ text: sql, rowMode: 'array' })
  return rows.map(([value]) => value)
}

async function readValue<T>(client: pg.Client, sql: string): Promise<T> {
  const { rows } = await client.query<[T]>({ text: sql, rowMode: 'array' })
  const [row] = rows
  if (!row) throw new Error('the query returned no row')
  return row[0]
}
