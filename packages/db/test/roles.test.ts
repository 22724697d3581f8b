import { readFileSync } from 'node:fs'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createScratchDatabase, type ScratchDatabase } from '../scripts/scratch-database.js'
import { applyMigrations } from '../src/migrations/index.js'
import {
  applyMonitoringRole,
  applyRoles,
  type DatabaseService,
  databaseServices,
  derivePasswords,
  monitoringRole,
  type RolePasswords,
  roleOf,
  serviceUrl,
  tableAccess,
} from '../src/roles/index.js'
import { type Access, lockedWhenPurged } from '../src/roles/table-access.js'

const refused = '42501'
const schema = readFileSync(new URL('../prisma/schema.prisma', import.meta.url), 'utf8')
let passwords: RolePasswords
let scratch: ScratchDatabase
let owner: pg.Client
const clients = new Map<DatabaseService, pg.Client>()

beforeAll(async () => {
  scratch = await createScratchDatabase()
  await applyMigrations(scratch.url)
  // Roles belong to the whole server, so every test gives them the same passwords.
  passwords = derivePasswords(new URL(scratch.url).password)
  // A right that an earlier version granted is revoked.
  await applyRoles(scratch.url, passwords)
  owner = new pg.Client({ connectionString: scratch.url })
  await owner.connect()
  await owner.query(`GRANT UPDATE ON projects TO ${roleOf('jobqueue-metrics')}, PUBLIC`)
  await applyRoles(scratch.url, passwords)
  for (const service of databaseServices) {
    const connectionString = serviceUrl(scratch.url, service, passwords[service])
    const client = new pg.Client({ connectionString })
    await client.connect()
    clients.set(service, client)
  }
})

afterAll(async () => {
  for (const client of clients.values()) await client.end()
  await owner.end()
  await scratch.drop()
})

/**
 * Returns the code of PostgreSQL's refusal, or null when the statement passes. It is rolled back in both
 * cases.
 */
async function refusalOf(service: DatabaseService, sql: string): Promise<string | null> {
  const client = clients.get(service)
  try {
    await client?.query(`BEGIN; ${sql}; ROLLBACK`)
    return null
  } catch (error) {
    await client?.query('ROLLBACK')
    return (error as { code: string }).code
  }
}

/** Returns the services that a table's comment in the schema names, with their rights besides reading. */
function namedInSchema(): Map<string, Partial<Record<DatabaseService, Access>>> {
  const clauses: [RegExp, Access][] = [
    [/Written by ([^.;]+)/, 'write'],
    [/[Rr]ows are added by ([^.;]+)/, 'append'],
    [/rows are deleted by ([^.;]+)/, 'purge'],
    [/rows are added and deleted by ([^.;]+)/, 'append-and-purge'],
  ]
  const models = schema.matchAll(/((?:^\/\/\/.*\n)+)model [\s\S]*?@@map\("(\w+)"\)/gm)
  return new Map(
    [...models].map(([, comment = '', table = '']) => [
      table,
      Object.fromEntries(
        clauses.flatMap(([clause, access]) =>
          (clause.exec(comment)?.[1] ?? '')
            .split(/, | and /)
            .filter((name) => name !== '')
            .map((name) => [name, access]),
        ),
      ),
    ]),
  )
}

describe('the list of rights on tables', () => {
  it('equals the comment of each table in schema.prisma', () => {
    const changing = Object.entries(tableAccess)
      .filter(([table]) => table !== '_prisma_migrations')
      .map(([table, services]) => [
        table,
        Object.fromEntries(Object.entries(services).filter(([, access]) => access !== 'read')),
      ])
    expect(Object.fromEntries(namedInSchema())).toEqual(Object.fromEntries(changing))
  })

  it('names every table of the database', async () => {
    const { rows } = await owner.query<{ name: string }>(
      `SELECT relname::text AS name FROM pg_class
       WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`,
    )
    expect(rows.map(({ name }) => name).toSorted()).toEqual(Object.keys(tableAccess).toSorted())
  })
})

describe.each(databaseServices)('%s', (service) => {
  const statements = (table: string): Record<string, string> => ({
    read: `SELECT FROM ${table} LIMIT 1`,
    // Without the default values of the owner's sequences, only the rights are tested.
    add: `INSERT INTO ${table} SELECT * FROM ${table} WHERE false`,
    change: `UPDATE ${table} SET ${columnOf(table)} = ${columnOf(table)} WHERE false`,
    delete: `DELETE FROM ${table} WHERE false`,
  })
  const columnOf = (table: string) => (table === '_prisma_migrations' ? 'logs' : changedColumns.get(table))
  const changedColumns = new Map<string, string>()
  const allowed: Record<Access, string[]> = {
    write: ['read', 'add', 'change', 'delete'],
    append: ['read', 'add'],
    purge: ['read', 'delete'],
    'append-and-purge': ['read', 'add', 'delete'],
    read: ['read'],
  }

  beforeAll(async () => {
    const { rows } = await owner.query<{ name: string; column: string }>(
      `SELECT c.relname::text AS name, quote_ident(max(a.attname)) AS column FROM pg_class c
       JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attname <> 'tenant'
       WHERE c.relnamespace = 'public'::regnamespace GROUP BY 1`,
    )
    for (const { name, column } of rows) changedColumns.set(name, column)
  })

  it.each(Object.keys(tableAccess))('has on %s exactly the rights of the list', async (table) => {
    const access = tableAccess[table]?.[service]
    for (const [verb, sql] of Object.entries(statements(table))) {
      const expected = access && allowed[access].includes(verb) ? null : refused
      expect([verb, await refusalOf(service, sql)]).toEqual([verb, expected])
    }
    expect(await refusalOf(service, `TRUNCATE ${table}`)).toBe(refused)
    expect(await refusalOf(service, `ALTER TABLE ${table} ADD COLUMN x int`)).toBe(refused)
    expect(await refusalOf(service, `DROP TABLE ${table}`)).toBe(refused)
  })

  it('creates no table, schema, role, extension or database, and has no special attribute', async () => {
    for (const sql of [
      'CREATE TABLE t (x int)',
      'CREATE SCHEMA s',
      'CREATE ROLE r',
      'CREATE EXTENSION "uuid-ossp"',
      `SET ROLE ${roleOf(service === 'worker' ? 'git-api' : 'worker')}`,
      "COPY users TO PROGRAM 'true'",
    ])
      expect([sql, await refusalOf(service, sql)]).toEqual([sql, refused])
    const { rows } = (await clients
      .get(service)
      ?.query(
        'SELECT rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls FROM pg_roles WHERE rolname = current_user',
      )) ?? { rows: [] }
    expect(Object.values(rows[0] ?? { none: true })).toEqual([false, false, false, false, false])
  })

  it.runIf(service !== 'saga-reporter')('creates no temporary table', async () => {
    expect(await refusalOf(service, 'CREATE TEMPORARY TABLE t (x int)')).toBe(refused)
  })

  it.runIf(service !== 'worker')('neither creates nor drops partitions', async () => {
    expect(await refusalOf(service, "SELECT ensure_saga_event_partitions('2031-01-01', 1)")).toBe(refused)
    expect(await refusalOf(service, "SELECT drop_saga_event_partition('saga_events_20310101')")).toBe(refused)
  })
})

describe('the worker', () => {
  it('reads the last id of the event log of sagas, and draws none', async () => {
    await owner.query("SELECT nextval('saga_events_id_seq')")
    const read = await clients
      .get('worker')
      ?.query("SELECT pg_sequence_last_value('saga_events_id_seq') AS last")
    expect(Number(read?.rows[0]?.last)).toBeGreaterThan(0)
    expect(await refusalOf('worker', "SELECT nextval('saga_events_id_seq')")).toBe(refused)
  })

  it('locks the rows that it purges', async () => {
    for (const table of Object.keys(lockedWhenPurged))
      expect(await refusalOf('worker', `SELECT FROM ${table} FOR UPDATE`)).toBeNull()
  })

  it('creates, thins and drops partitions of the event log, and no other table', async () => {
    const worker = clients.get('worker')
    const made = await worker?.query("SELECT ensure_saga_event_partitions('2031-01-01', 1) AS name")
    expect(made?.rows).toEqual([{ name: 'saga_events_20310101' }])
    expect(await refusalOf('worker', 'DELETE FROM saga_events_20310101')).toBeNull()
    expect(await refusalOf('worker', 'DELETE FROM saga_events_default')).toBeNull()
    expect(await refusalOf('worker', 'DROP TABLE saga_events_20310101')).toBe(refused)
    for (const name of [
      'users',
      'saga_events',
      'saga_events_default',
      'saga_events_20991231',
      'x"; DROP TABLE users; --',
    ])
      expect([
        name,
        await refusalOf('worker', `SELECT drop_saga_event_partition(${pg.escapeLiteral(name)})`),
      ]).toEqual([name, 'P0001'])
    await worker?.query("SELECT drop_saga_event_partition('saga_events_20310101')")
    const { rows } = await owner.query("SELECT to_regclass('saga_events_20310101') AS table")
    expect(rows).toEqual([{ table: null }])
  })
})

it('the role of an exporter reads the statistics of the server, and no table', async () => {
  await applyMonitoringRole(scratch.url, 'first')
  await applyMonitoringRole(scratch.url, 'second')
  const url = new URL(scratch.url)
  Object.assign(url, { username: monitoringRole, password: 'second' })
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  expect((await client.query("SELECT pg_has_role('pg_monitor', 'usage') AS may")).rows).toEqual([
    { may: true },
  ])
  await expect(client.query('SELECT FROM users')).rejects.toMatchObject({ code: refused })
  await client.end()
})

it('a wrong password is refused, and PostgreSQL stores no password in plain text', async () => {
  const client = new pg.Client({ connectionString: serviceUrl(scratch.url, 'worker', passwords['git-api']) })
  await expect(client.connect()).rejects.toMatchObject({ code: '28P01' })
  const { rows } = await owner.query<{ kept: string }>(
    "SELECT rolpassword AS kept FROM pg_authid WHERE rolname LIKE 'switchyard\\_%'",
  )
  expect(rows.length).toBeGreaterThanOrEqual(databaseServices.length)
  for (const { kept } of rows) expect(kept).toMatch(/^SCRAM-SHA-256\$4096:/)
})
