import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createScratchDatabase, type ScratchDatabase } from '../scripts/scratch-database.js'
import {
  copyTenant,
  createDatabase,
  type Database,
  deleteTenant,
  fenceTenant,
  holdsTenant,
  isCopied,
  reserveIds,
  unfenceTenant,
} from '../src/index.js'
import { applyMigrations } from '../src/migrations/index.js'
import { tenantTables } from '../src/stores/sagas/moving/tenant-tables.js'

let scratches: ScratchDatabase[]
let source: Database
let destination: Database

beforeAll(async () => {
  scratches = [await createScratchDatabase(), await createScratchDatabase()]
  const open = async ({ url }: ScratchDatabase) => {
    await applyMigrations(url)
    return createDatabase({ url, poolSizeMax: 4, applicationName: 'test' })
  }
  const [a, b] = await Promise.all(scratches.map(open))
  source = a as Database
  destination = b as Database
})

afterAll(async () => {
  await source?.close()
  await destination?.close()
  for (const scratch of scratches ?? []) await scratch.drop()
})

/** The map of tenants, and what belongs to projects and users, which are in the cell `default` alone. */
const staying = ['saga_tenant_cells', 'deployments', 'personal_access_tokens']

it('moves every table with a tenant, or with a reference to one that has a tenant', async () => {
  const { rows } = await source.pool.query<{ name: string }>(
    `WITH RECURSIVE tables AS (
      SELECT c.oid, c.relname::text AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
          AND a.attnum > 0 AND a.attname ~ 'tenant' AND NOT c.relname = ANY ($1)
      UNION
      SELECT c.oid, c.relname::text FROM tables t JOIN pg_constraint f ON f.confrelid = t.oid AND f.contype = 'f'
        JOIN pg_class c ON c.oid = f.conrelid WHERE NOT c.relispartition
    )
    SELECT name FROM tables`,
    [staying],
  )
  expect(tenantTables.map(({ name }) => name).sort()).toEqual(rows.map(({ name }) => name).sort())
})

/** One row of a tenant in each table, and two in the log on days without partitions there. */
function fill(tenant: string, month = '01') {
  const owner = pg.escapeLiteral(tenant)
  return `
  INSERT INTO saga_events (tenant, received_at, operation, saga_id, content_key, result, request) VALUES
    (${owner}, '2031-${month}-02T00:00Z', 'SagaStarted', 's', '\\x0001', 'recorded', '\\x00ff5c6e'),
    (${owner}, '2031-${month}-03T00:00Z', 'SagaEnded', 's', '\\x0002', 'recorded', '');
  INSERT INTO saga_event_ids VALUES (${owner}, E'a\\tb\\\\');
  INSERT INTO sagas (tenant, id, status, first_seen_at, last_event_at) VALUES (${owner}, 's', 'Ended', now(), now());
  INSERT INTO saga_activities (tenant, id, status, first_seen_at, last_event_at)
    VALUES (${owner}, 'parked', 'Started', now(), now());
  INSERT INTO saga_tags VALUES (${owner}, 's', 'tag', now());
  INSERT INTO saga_leases (tenant, saga_id, token, worker, leased_at, leased_until, attempts, available_at)
    VALUES (${owner}, 's', gen_random_uuid(), 'w', now(), now(), 1, now());
  INSERT INTO saga_notes (tenant, saga_id, author_id, author_name, body) VALUES (${owner}, 's', 7, 'root', E'ä\\n');
  INSERT INTO saga_errors VALUES (${owner}, 'a', 's', now(), now(), 'f', 'Text', 'text');
  INSERT INTO saga_bulk_jobs (tenant, action, note, filter, author_id, author_name, audit_author)
    VALUES (${owner}, 'note', '', '{"a": [1]}', 1, 'a', '{}');
  INSERT INTO saga_bulk_items (tenant, job_id, position, saga_id) SELECT tenant, id, 1, 's' FROM saga_bulk_jobs
    WHERE tenant = ${owner};
  INSERT INTO saga_flags (tenant, kind, saga_id, since, first_seen_at, set_at)
    VALUES (${owner}, 'overdue', 's', now(), now(), now() - interval '1 hour');
  INSERT INTO saga_tombstones (tenant, kind, id) VALUES (${owner}, 'saga', 'gone');
  INSERT INTO webhooks (scope, tenant, url, host, events) VALUES ('saga', ${owner}, 'https://h/', 'h', '{saga.ended}');
  INSERT INTO webhook_deliveries (webhook_id, event, dedupe_key, payload) SELECT id, 'saga.ended', 'k', '{}' FROM webhooks
    WHERE tenant = ${owner}`
}

async function countRows({ pool }: Database, tenant: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { name } of tenantTables) {
    const from =
      name === 'webhook_deliveries' ? 'webhook_deliveries d JOIN webhooks w ON w.id = webhook_id' : name
    const { rows } = await pool.query(`SELECT count(*)::int AS count FROM ${from} WHERE tenant = $1`, [
      tenant,
    ])
    counts[name] = rows[0].count
  }
  return counts
}

const everyTable = (count: number, log: number) =>
  Object.fromEntries(tenantTables.map(({ name }) => [name, name === 'saga_events' ? log : count]))

it('copies the rows of all tables with ids above those of both cells, and deletes no others', async () => {
  for (const tenant of ["o'neil", 'other']) await source.pool.query(fill(tenant))
  await destination.pool.query(fill('there', '02'))
  await fenceTenant(source, "o'neil")
  const shifts = await reserveIds({ source, destination }, "o'neil")
  const moved = { tenant: "o'neil", moveId: randomUUID() }
  await copyTenant({ source, destination }, moved, shifts)
  expect(await isCopied(destination, moved.moveId)).toBe(true)
  // Rows of a tenant are no sign that all of them are there.
  const other = { ...moved, moveId: randomUUID() }
  await expect(copyTenant({ source, destination }, other, shifts)).rejects.toThrow('other rows of the tenant')
  expect(await isCopied(destination, other.moveId)).toBe(false)
  expect(await countRows(destination, "o'neil")).toEqual(everyTable(1, 2))
  await deleteTenant(source, "o'neil")
  expect(await holdsTenant(source, "o'neil")).toBe(false)
  expect(await countRows(source, 'other')).toEqual(everyTable(1, 2))
  expect(await countRows(destination, 'there')).toEqual(everyTable(1, 2))

  const { rows } = await destination.pool.query(
    'SELECT tenant, id::int, tableoid::regclass::text AS day FROM saga_events ORDER BY id',
  )
  expect(rows).toEqual([
    { tenant: 'there', id: 1, day: 'saga_events_default' },
    { tenant: 'there', id: 2, day: 'saga_events_default' },
    { tenant: "o'neil", id: 5, day: 'saga_events_20310102' },
    { tenant: "o'neil", id: 6, day: 'saga_events_20310103' },
  ])
  const { rows: next } = await destination.pool.query("SELECT nextval('saga_events_id_seq')::int AS id")
  expect(next).toEqual([{ id: 7 }])
})

it('has PostgreSQL refuse rows of a tenant that has left, until it comes back', async () => {
  const add = (tenant: string) =>
    source.pool.query(
      "INSERT INTO saga_notes (tenant, saga_id, author_id, author_name, body) VALUES ($1, 's', 1, 'a', '')",
      [tenant],
    )
  await expect(source.pool.query(fill("o'neil"))).rejects.toThrow('saga_moved_')
  await expect(add("o'neil")).rejects.toThrow('saga_moved_')
  await add('other')
  // A day that begins while the tenant is away.
  await source.pool.query("SELECT ensure_saga_event_partitions('2032-01-01', 1)")
  await unfenceTenant(source, "o'neil")
  await source.pool.query(fill("o'neil"))
  const { rows } = await source.pool.query("SELECT FROM pg_constraint WHERE conname LIKE 'saga_moved_%'")
  expect(rows).toEqual([])
})
