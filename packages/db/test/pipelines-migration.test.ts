import { aggregateStatus, type CountedStatus } from '@switchyard/domain/commit-status'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createScratchDatabase, type ScratchDatabase } from '../scripts/scratch-database.js'
import { listShippedMigrations } from '../src/migrations/index.js'

let scratch: ScratchDatabase
let client: pg.Client

beforeAll(async () => {
  scratch = await createScratchDatabase()
  client = new pg.Client({ connectionString: scratch.url })
  await client.connect()
})
afterAll(async () => {
  await client.end()
  await scratch.drop()
})

const states = ['created', 'pending', 'running', 'success', 'failed', 'canceled', 'skipped', 'manual']

/** Every set of states, once without and once with failures that are allowed. */
function everyPipeline(): CountedStatus[][] {
  const sets = Array.from({ length: 2 ** states.length - 1 }, (_, index) =>
    states.filter((_state, bit) => ((index + 1) >> bit) & 1),
  )
  return [false, true].flatMap((allowFailure) =>
    sets.map((set) => set.map((status) => ({ status, allowFailure }))),
  )
}

test('statuses of an earlier version become pipelines with the id of their first status and the state of the rule', async () => {
  const migrations = await listShippedMigrations()
  const at = migrations.findIndex(({ name }) => name.endsWith('_pipelines'))
  for (const { sql } of migrations.slice(0, at)) await client.query(sql)
  await client.query(
    `INSERT INTO users (username, username_key, name, email, email_key) VALUES ('u', 'u', 'u', 'u', 'u')`,
  )
  await client.query(`INSERT INTO projects (owner_id, path, name, path_with_namespace, path_key, disk_path)
    SELECT id, 'p', 'p', 'u/p', 'u/p', 'p' FROM users`)
  const pipelines = everyPipeline()
  const rows = pipelines.flatMap((statuses, index) =>
    statuses.map(({ status, allowFailure }) => ({
      sha: String(index).padStart(40, '0'),
      ref: index % 2 === 0 ? 'main' : null,
      status,
      allow: allowFailure,
    })),
  )
  await client.query(
    `INSERT INTO commit_statuses (project_id, sha, ref, name, status, allow_failure)
     SELECT p.id, sha, ref, status, status, allow FROM projects p,
       unnest($1::text[], $2::text[], $3::text[], $4::boolean[]) WITH ORDINALITY AS given (sha, ref, status, allow, number)
     ORDER BY number`,
    [
      rows.map(({ sha }) => sha),
      rows.map(({ ref }) => ref),
      rows.map(({ status }) => status),
      rows.map(({ allow }) => allow),
    ],
  )
  for (const { sql } of migrations.slice(at)) await client.query(sql)

  const { rows: made } = await client.query('SELECT status FROM pipelines ORDER BY sha')
  expect(made.map(({ status }) => status)).toEqual(pipelines.map((statuses) => aggregateStatus(statuses)))
  const { rows: wrong } = await client.query(
    `SELECT FROM commit_statuses s LEFT JOIN pipelines p ON p.project_id = s.project_id AND p.id = s.pipeline_id
     WHERE p.sha IS DISTINCT FROM s.sha OR p.ref IS DISTINCT FROM s.ref
       OR p.id <> (SELECT min(id) FROM commit_statuses WHERE sha = s.sha)`,
  )
  expect(wrong).toEqual([])
  const { rows: next } = await client.query(
    `SELECT nextval('pipelines_id_seq') > max(id) AS free FROM commit_statuses`,
  )
  expect(next).toEqual([{ free: true }])
})
