import { describe, expect, it } from 'vitest'
import { listShippedMigrations } from '../src/migrations/index.js'
import { problemsOf } from './support/migration-rules.js'

const [baseline, ...after] = await listShippedMigrations()

it('every migration after the baseline keeps the release before working and locks no large table for long', async () => {
  const broken = await Promise.all(
    after.map(async ({ name, sql }) => ({ name, problems: await problemsOf(sql) })),
  )
  expect(broken.filter(({ problems }) => problems.length > 0)).toEqual([])
})

it('the baseline is the first migration', () => {
  expect(baseline?.name).toBe('0_baseline')
})

describe('refused', () => {
  it.each([
    ['ALTER TABLE a DROP COLUMN b', 'drops a column'],
    ['ALTER TABLE a RENAME COLUMN b TO c', 'renames'],
    ['ALTER TABLE a RENAME TO c', 'renames'],
    ['DROP TABLE a', 'drops'],
    ['DROP FUNCTION f(integer)', 'drops'],
    ['ALTER TABLE a ALTER COLUMN b TYPE bigint', 'changes the type of a column'],
    ['ALTER TABLE a ADD COLUMN b text NOT NULL', 'NOT NULL without a default'],
    ['ALTER TABLE a ADD COLUMN b serial', 'fills every row'],
    ['ALTER TABLE a ADD COLUMN b uuid DEFAULT gen_random_uuid()', 'fills every row'],
    ['ALTER TABLE a ADD COLUMN b integer REFERENCES c (id)', 'constraint'],
    ['ALTER TABLE a ADD COLUMN b integer UNIQUE', 'constraint'],
    ['ALTER TABLE a ALTER COLUMN b SET NOT NULL', 'NOT NULL'],
    ['ALTER TABLE a ADD FOREIGN KEY (b) REFERENCES c (id)', 'NOT VALID'],
    ['ALTER TABLE a ADD CHECK (b > 0)', 'NOT VALID'],
    ['ALTER TABLE a ADD UNIQUE (b)', 'USING INDEX'],
    ['ALTER TABLE a ADD CHECK (b > 0) NOT VALID; ALTER TABLE a VALIDATE CONSTRAINT a_b', 'alone'],
    ['CREATE INDEX i ON a (b)', 'CONCURRENTLY'],
    ['CREATE INDEX CONCURRENTLY i ON a (b); CREATE INDEX CONCURRENTLY j ON a (c)', 'alone'],
    ['DROP INDEX i', 'CONCURRENTLY'],
    ['REINDEX TABLE a', 'ReindexStmt'],
    ['UPDATE a SET b = 1', 'in batches'],
    ['TRUNCATE a', 'TruncateStmt'],
    ['ALTER TABLE a ADD COLUMN b text; ALTER TABLE c ADD COLUMN d text', 'more than one table'],
    ['BEGIN; ALTER TABLE a ADD COLUMN b text; COMMIT', 'TransactionStmt'],
  ])('%s', async (sql, problem) => {
    expect((await problemsOf(sql)).join()).toContain(problem)
  })
})

describe('allowed', () => {
  it.each([
    ['ALTER TABLE a ADD COLUMN b text'],
    ["ALTER TABLE a ADD COLUMN b text[] NOT NULL DEFAULT '{}'"],
    ['ALTER TABLE a ADD COLUMN b timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP'],
    ['ALTER TABLE a ADD FOREIGN KEY (b) REFERENCES c (id) NOT VALID'],
    ['ALTER TABLE a VALIDATE CONSTRAINT a_b_fkey'],
    ['CREATE INDEX CONCURRENTLY i ON a (b)'],
    ['CREATE INDEX i ON ONLY saga_events (b)'],
    ['DROP INDEX CONCURRENTLY i'],
    [
      'CREATE TABLE a (id integer NOT NULL UNIQUE); CREATE INDEX i ON a (id); ALTER TABLE a ADD CHECK (id > 0)',
    ],
    ['CREATE OR REPLACE FUNCTION f() RETURNS integer LANGUAGE sql AS $$ SELECT 1; $$'],
    ['-- contract: nothing has read it since 0.3.0\nALTER TABLE a DROP COLUMN b'],
  ])('%s', async (sql) => {
    expect(await problemsOf(sql)).toEqual([])
  })

  it('a contract step that names no release is refused', async () => {
    expect(await problemsOf('-- contract\nALTER TABLE a DROP COLUMN b')).toEqual([
      'drops a column: the release before may use it',
    ])
  })
})
