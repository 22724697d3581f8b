import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { type DatabaseDump, type TableFile, tableFileOf } from '../manifest.js'
import { backupOf, idsOf, projectTables } from './project-tables.js'

/** A project in a backup. */
export interface StagedProject {
  id: number
  storage: string
  diskPath: string
}

interface Part {
  column: string
  value: string
}

/** Returns the tables of a dump that contain rows of a project. */
export const tablesOfProject = ({ tables }: DatabaseDump): TableFile[] =>
  ['users', 'projects', ...projectTables.map(({ name }) => name)].map((name) => tableIn(tables, name))

function tableIn(tables: readonly TableFile[], name: string): TableFile {
  const table = tables.find((each) => each.name === name)
  if (!table) throw new Error(`the backup has no table ${name}`)
  return table
}

/**
 * Copies the row of a project and all users from a dump into temporary tables of the connection.
 *
 * @param pathKey full path of the project in lower case
 * @returns null when the dump has no such project
 */
export async function stageProject(
  client: pg.Client,
  { tables }: DatabaseDump,
  folder: string,
  pathKey: string,
): Promise<StagedProject | null> {
  await stageTable(client, tableIn(tables, 'projects'), folder, { column: 'path_key', value: pathKey })
  const { rows } = await client.query<StagedProject>(
    `SELECT id, storage, disk_path AS "diskPath" FROM ${backupOf('projects')}`,
  )
  return rows[0] ?? null
}

/**
 * Copies the other rows of a project into temporary tables, and draws a new id for each of them. Each user of
 * the backup gets the id of the user with the same name in this installation; the others get none.
 */
export async function stageRows(
  client: pg.Client,
  { tables }: DatabaseDump,
  folder: string,
  ids: { old: number; new: number },
): Promise<void> {
  await stageTable(client, tableIn(tables, 'users'), folder)
  for (const { name } of projectTables)
    await stageTable(client, tableIn(tables, name), folder, { column: 'project_id', value: String(ids.old) })
  await client.query(`CREATE TEMP TABLE new_ids_of_users (old bigint PRIMARY KEY, new bigint, bot boolean);
    INSERT INTO new_ids_of_users SELECT b.id, u.id, u.bot OR b.bot FROM ${backupOf('users')} b
      JOIN users u ON u.username_key = b.username_key;
    CREATE TEMP TABLE new_ids_of_projects (old bigint PRIMARY KEY, new bigint)`)
  await client.query(`INSERT INTO ${idsOf('projects')} VALUES ($1, $2)`, [ids.old, ids.new])
  for (const { name } of projectTables)
    if (tableIn(tables, name).columns.includes('id')) await drawIds(client, name)
}

/**
 * Draws new ids, in the order of the old ones. A row that others name may be missing: a discussion outlives
 * the comment that began it.
 */
async function drawIds(client: pg.Client, table: string): Promise<void> {
  const named = projectTables.flatMap(({ name, references = {} }) =>
    Object.entries(references)
      .filter(([, target]) => target === table)
      .map(([column]) => `SELECT ${column} FROM ${backupOf(name)} WHERE ${column} IS NOT NULL`),
  )
  await client.query(`CREATE TEMP TABLE new_ids_of_${table} (old bigint PRIMARY KEY, new bigint);
    INSERT INTO new_ids_of_${table} SELECT o.id, nextval(pg_get_serial_sequence('${table}', 'id'))
    FROM (${[`SELECT id FROM ${backupOf(table)}`, ...named].join(' UNION ')} ORDER BY id) o`)
}

/** Copies the rows of a table, or those with a value, into a temporary table. */
async function stageTable(
  client: pg.Client,
  { name, columns }: TableFile,
  folder: string,
  part?: Part,
): Promise<void> {
  const list = columns.map((column) => pg.escapeIdentifier(column)).join(', ')
  await client.query(
    `CREATE TEMP TABLE backup_of_${name} AS SELECT ${list} FROM ${pg.escapeIdentifier(name)} WITH NO DATA`,
  )
  const rows = (chunks: AsyncIterable<Buffer>) =>
    part ? selectRows(chunks, columns.indexOf(part.column), part.value) : chunks
  const copy = client.query(copyFrom(`COPY ${backupOf(name)} (${list}) FROM STDIN`))
  await pipeline(createReadStream(join(folder, tableFileOf(name))), createGunzip(), rows, copy)
}

const [newline, tab] = [0x0a, 0x09]

/** Yields the rows of PostgreSQL's text format whose column has a value, which needs no escaping. */
async function* selectRows(
  chunks: AsyncIterable<Buffer>,
  column: number,
  value: string,
): AsyncGenerator<Buffer> {
  const wanted = Buffer.from(value)
  let begun: Buffer[] = []
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      const last = chunk.subarray(start, end + 1)
      const row = begun.length === 0 ? last : Buffer.concat([...begun, last])
      begun = []
      start = end + 1
      if (fieldOf(row, column).equals(wanted)) yield row
    }
    if (start < chunk.length) begun.push(chunk.subarray(start))
  }
}

function fieldOf(row: Buffer, column: number): Buffer {
  let start = 0
  for (let index = 0; index < column; index += 1) start = row.indexOf(tab, start) + 1
  const end = row.indexOf(tab, start)
  return row.subarray(start, end === -1 ? row.length - 1 : end)
}
