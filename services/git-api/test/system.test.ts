import { startTestRedis, type TestRedis } from '@switchyard/testing'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { presentSystem } from '../src/system/routes.js'
import { type Harness, startHarness } from './harness.js'

let harness: Harness
let redis: TestRedis

beforeAll(async () => {
  redis = await startTestRedis()
  harness = await startHarness({ redisUrl: redis.urlOf('git-api') })
})
afterAll(async () => {
  await harness.close()
  await redis.stop()
})

async function systemOf(base = harness.baseUrl) {
  const response = await harness.send('admin', 'GET', '/system', {}, base)
  const body = (await response.json()) as ReturnType<typeof presentSystem>
  return { status: response.status, body }
}

it('the state has versions, sizes and free space as the systems themselves report them', async () => {
  const { status, body } = await systemOf()
  expect(status).toBe(200)
  expect(body).toMatchObject({
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    revision: '0123456789abcdef0123456789abcdef01234567',
    revision_at: '2026-01-31T12:00:00.000Z',
    node_version: process.versions.node,
    git_version: (await execa('git', ['--version'])).stdout.replace('git version ', ''),
    uptime_seconds: expect.any(Number),
    redis: { version: expect.stringMatching(/^\d+\.\d+/), used_memory_bytes: expect.any(Number) },
  })
  const { pool } = harness.database
  const { rows } = await pool.query(
    `SELECT current_setting('server_version') AS version, current_setting('max_connections')::int AS max,
       (SELECT count(*)::int FROM users) AS users`,
  )
  expect(body.database).toMatchObject({
    version: rows[0].version,
    connections_max: rows[0].max,
    users: rows[0].users,
    projects: 0,
  })
  expect(body.database?.connections).toBeGreaterThan(1)
  expect(body.database?.size_bytes).toBeGreaterThan(1_000_000)
  const { total_bytes = 0, free_bytes = 0 } = body.storage ?? {}
  expect(total_bytes).toBeGreaterThan(0)
  expect(free_bytes).toBeLessThanOrEqual(total_bytes)
  const { stdout } = await execa('df', ['--block-size=1', '--output=size', harness.storageRoot])
  expect(total_bytes).toBe(Number(stdout.split('\n')[1]))
})

it('the state lists the ten largest tables, each once with its partitions', async () => {
  const tables = (await systemOf()).body.database?.tables ?? []
  expect(tables).toHaveLength(10)
  const names = tables.map(({ name }) => name)
  expect(new Set(names).size).toBe(10)
  expect(names.filter((name) => /^saga_events_/.test(name))).toEqual([])
  const sizes = tables.map(({ size_bytes }) => size_bytes)
  expect(sizes).toEqual(sizes.toSorted((one, other) => other - one))
  const { rows } = await harness.database.pool.query('SELECT pg_total_relation_size($1)::int AS size', [
    'users',
  ])
  const users = tables.find(({ name }) => name === 'users')
  if (users) expect(users.size_bytes).toBe(rows[0].size)
})

it('the state is read once in ten seconds, however many requests arrive', async () => {
  const answers = await Promise.all(Array.from({ length: 5 }, () => systemOf()))
  expect(new Set(answers.map(({ body }) => body.checked_at)).size).toBe(1)
})

it('the state has no database part while a lock blocks the reading of its size', async () => {
  const client = await harness.database.pool.connect()
  await client.query('BEGIN; LOCK TABLE release_links IN ACCESS EXCLUSIVE MODE')
  try {
    const { status, body } = await systemOf(await harness.start())
    expect([status, body.database]).toEqual([200, null])
    expect(body.redis?.version).toMatch(/^\d/)
  } finally {
    await client.query('ROLLBACK')
    client.release()
  }
})

it('the state has no Redis part while Redis is unreachable', async () => {
  const base = await harness.start({ REDIS_URL: 'redis://127.0.0.1:1' })
  const { status, body } = await systemOf(base)
  expect([status, body.redis]).toEqual([200, null])
  expect(body.database?.version).toMatch(/^\d/)
})

it.each([
  ['guest', 401],
  ['unknown', 401],
  ['user', 403],
  ['ownerReading', 403],
])('is refused to %s', async (who, status) => {
  expect((await harness.send(who, 'GET', '/system')).status).toBe(status)
})

it('the state shows how far the audit log has reached each destination, and why one fails', async () => {
  const { pool } = harness.database
  await pool.query(`INSERT INTO audit_events (author_name, event_name, entity_type, entity_id, details)
    VALUES ('Ada', 'member_added', 'Project', '1', '{}');
    INSERT INTO audit_exports (destination, position, exported_at, failing_since, last_error)
    VALUES ('http', 9000000, now(), NULL, NULL), ('syslog', 0, NULL, now(), 'the connection was refused')`)
  const { body } = await systemOf(await harness.start())
  const at = expect.stringMatching(/^\d{4}-/)
  expect(body.audit_exports).toEqual([
    {
      destination: 'http',
      exported_at: at,
      checked_at: at,
      waiting_since: null,
      failing_since: null,
      last_error: null,
    },
    {
      destination: 'syslog',
      exported_at: null,
      checked_at: at,
      waiting_since: at,
      failing_since: at,
      last_error: 'the connection was refused',
    },
  ])
})
