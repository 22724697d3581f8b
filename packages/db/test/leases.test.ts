import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createScratchDatabase, type ScratchDatabase } from '../scripts/scratch-database.js'
import { leaseEnd, leaseRows } from '../src/sql/index.js'

let scratch: ScratchDatabase
let one: pg.Client
let other: pg.Client

beforeEach(async () => {
  scratch = await createScratchDatabase()
  one = new pg.Client({ connectionString: scratch.url })
  other = new pg.Client({ connectionString: scratch.url })
  await one.connect()
  await other.connect()
  await one.query(`CREATE TABLE tasks (project_id integer, id integer, look_at timestamptz, tries integer DEFAULT 0);
    INSERT INTO tasks SELECT 1, id, now() - id * interval '1 s' FROM generate_series(1, 4) AS id;
    INSERT INTO tasks VALUES (2, 4, now() + interval '1 hour'), (2, 5, NULL)`)
})
afterEach(async () => {
  await one.end()
  await other.end()
  await scratch.drop()
})

const text = leaseRows({
  table: 'tasks',
  keys: ['project_id', 'id'],
  free: 'leased.look_at <= now()',
  order: 'leased.look_at',
  set: `look_at = ${leaseEnd('$2')}, tries = leased.tries + 1`,
  select: 'SELECT project_id, id, tries, look_at > now() AS held FROM leased ORDER BY id',
})
const take = async (client: pg.Client, rowsMax: number, ms: number) =>
  (await client.query<{ id: number }>(text, [rowsMax, ms])).rows

test('rows are taken in their order, each by one of two processes that take at the same time', async () => {
  await one.query('BEGIN')
  expect(await take(one, 2, 60_000)).toEqual([
    { project_id: 1, id: 3, tries: 1, held: true },
    { project_id: 1, id: 4, tries: 1, held: true },
  ])
  expect((await take(other, 5, 60_000)).map(({ id }) => id)).toEqual([1, 2])
  await one.query('COMMIT')
  expect(await take(other, 5, 60_000)).toEqual([])
})

test('rows whose lease has ended are taken again', async () => {
  await take(one, 5, 0)
  expect(await take(other, 5, 60_000)).toHaveLength(4)
  expect(await take(one, 5, 60_000)).toEqual([])
})
