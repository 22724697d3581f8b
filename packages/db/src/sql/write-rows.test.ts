import { expect, it } from 'vitest'
import {
  bigint,
  final,
  integer,
  omit,
  pick,
  rowColumns,
  rowReader,
  selectList,
  text,
  time,
} from './row-columns.js'
import { insertInto, queryOf, updateIn } from './write-rows.js'

interface Row {
  id: bigint
  projectId: number
  name: string
  startedAt: Date | null
}

const columns = rowColumns<Row>({
  id: final(bigint('id')),
  projectId: final(integer('project_id')),
  name: text('name'),
  startedAt: { ...time('started_at'), expression: 'least(stored.started_at, given.started_at)' },
})
const rows: Row[] = [
  { id: 1n, projectId: 7, name: 'a', startedAt: null },
  { id: 2n, projectId: 7, name: 'b', startedAt: new Date(0) },
]

it('inserts any number of rows by one array for each column', () => {
  expect(queryOf(insertInto('add', 'jobs', omit(columns, 'id', 'startedAt'), 'RETURNING id'), rows)).toEqual({
    name: 'add',
    text: 'INSERT INTO jobs AS stored (project_id, name) SELECT given.project_id, given.name FROM unnest($1::integer[], $2::text[]) AS given(project_id, name) RETURNING id',
    values: [
      [7, 7],
      ['a', 'b'],
    ],
  })
})

it('updates the changed columns of rows that the keys identify', () => {
  const changing = columns.filter(({ isFinal }) => !isFinal)
  expect(queryOf(updateIn('change', 'jobs', pick(columns, 'id'), changing), rows)).toEqual({
    name: 'change',
    text: 'UPDATE jobs AS stored SET name = given.name, started_at = least(stored.started_at, given.started_at) FROM unnest($1::bigint[], $2::text[], $3::timestamptz[]) AS given(id, name, started_at) WHERE stored.id = given.id',
    values: [
      ['1', '2'],
      ['a', 'b'],
      [null, '1970-01-01T00:00:00.000Z'],
    ],
  })
})

it('sends no array for a column without values', () => {
  const [first] = rows
  expect(queryOf(insertInto('add', 'jobs', columns), first ? [first] : []).values).toEqual([
    ['1'],
    [7],
    ['a'],
    null,
  ])
})

it('reads columns by the names of the properties', () => {
  expect(selectList('j', pick(columns, 'id', 'projectId'))).toBe('j.id AS "id", j.project_id AS "projectId"')
  expect(rowReader(columns)({ id: '12', projectId: 7, name: 'a', startedAt: null })).toEqual({
    id: 12n,
    projectId: 7,
    name: 'a',
    startedAt: null,
  })
})
