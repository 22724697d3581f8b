import type { CommitStatus, Pooled, Rows, User } from '@switchyard/db'
import {
  bigint,
  final,
  flag,
  float,
  insertInto,
  integer,
  json,
  omit,
  pick,
  rowColumns,
  rowReader,
  SqlParameters,
  selectList,
  text,
  time,
  updateIn,
} from '@switchyard/db/sql'
import type { CountedStatus, StatusLink } from '@switchyard/domain/commit-status'

/** The columns of an author that answers show. */
export type StatusAuthor = Pick<User, 'id' | 'username' | 'name' | 'state'>

/** The columns that {@link authorColumns} adds to a row. */
export interface AuthorRow {
  authorId: number | null
  authorUsername: string | null
  authorName: string | null
  authorState: string | null
}

/** Columns of `LEFT JOIN users u ON u.id = <table>.author_id`. */
export const authorColumns = `u.username AS "authorUsername", u.name AS "authorName", u.state AS "authorState"`

/** Replaces the author columns by an author; null when the account no longer exists. */
export function withAuthor<Row extends AuthorRow>({
  authorUsername,
  authorName,
  authorState,
  ...row
}: Row): Omit<Row, Exclude<keyof AuthorRow, 'authorId'>> & { author: StatusAuthor | null } {
  const author =
    row.authorId === null || authorUsername === null
      ? null
      : { id: row.authorId, username: authorUsername, name: authorName ?? '', state: authorState ?? '' }
  return { ...row, author }
}

/** A row of `commit_statuses`. */
type StatusRecord = Omit<CommitStatus, 'report' | 'artifacts'> & {
  report: StatusLink[]
  artifacts: StatusLink[]
}

export type StatusWithAuthor = StatusRecord & { author: StatusAuthor | null }

/** Identifies a status. Posts with one key change one record as long as the record is active. */
export interface StatusKey {
  projectId: number
  sha: string
  ref: string | null
  name: string
}

/** A name that a commit has statuses of, each with another ref. */
export type StatusName = Omit<StatusKey, 'ref'>

/** The columns of `commit_statuses`. */
const columns = rowColumns<StatusRecord>({
  projectId: final(integer('project_id')),
  id: final(bigint('id')),
  sha: final(text('sha')),
  ref: final(text('ref')),
  pipelineId: final(bigint('pipeline_id')),
  name: final(text('name')),
  stage: text('stage'),
  status: text('status'),
  description: text('description'),
  targetUrl: text('target_url'),
  report: json('report'),
  artifacts: json('artifacts'),
  coverage: float('coverage'),
  allowFailure: final(flag('allow_failure')),
  authorId: final(integer('author_id')),
  createdAt: final(time('created_at')),
  updatedAt: time('updated_at'),
  startedAt: time('started_at'),
  finishedAt: time('finished_at'),
  superseded: flag('superseded'),
  job: final(json('job')),
})

/** Inserts statuses and returns the new ids. */
export const insertStatuses = insertInto(
  'add-statuses',
  'commit_statuses',
  omit(columns, 'id'),
  'RETURNING id',
)

export const updateStatuses = updateIn(
  'change-statuses',
  'commit_statuses',
  pick(columns, 'projectId', 'id'),
  columns.filter(({ isFinal }) => !isFinal),
)

/** A row of {@link statusColumns}, as node-postgres returns it. */
export type StatusRow = Record<keyof CommitStatus, unknown> & AuthorRow

/** Columns of `commit_statuses s LEFT JOIN users u ON u.id = s.author_id`. */
export const statusColumns = `${selectList('s', columns)}, ${authorColumns}`

const read = rowReader(columns)

export const statusOf = (row: StatusRow): StatusWithAuthor => {
  const { author, ...status } = withAuthor(row)
  return { ...read(status), author }
}

export interface StatusFilter {
  projectId: number
  /** Undefined: statuses of every commit. */
  sha?: string | undefined
  /** Undefined: statuses of every ref. */
  ref?: string | undefined
  stage?: string | undefined
  name?: string | undefined
  pipelineId?: bigint | undefined
  /** Undefined: every state. */
  states?: readonly string[] | undefined
  /** Only the newest record of each ref and name. */
  latest: boolean
  newestFirst: boolean
  /** Whether the statuses of each pipeline are listed together. Unset: the order of their first posts. */
  byPipeline?: boolean | undefined
}

/** Returns one page of a commit's statuses, and the number of all of them. */
export async function listCommitStatuses(
  database: Pooled,
  filter: StatusFilter & { sha: string },
  rows: Rows,
): Promise<{ statuses: StatusWithAuthor[]; total: number }> {
  const { where, values, shape } = conditionOf(filter)
  const [statuses, count] = await Promise.all([
    listStatuses(database, filter, rows),
    database.pool.query<{ total: number }>({
      name: `statuses total ${shape}`,
      text: `SELECT count(*)::int AS total FROM commit_statuses s WHERE ${where}`,
      values,
    }),
  ])
  return { statuses, total: count.rows[0]?.total ?? 0 }
}

/** Returns one page of statuses without a total, because a whole project has too many to count. */
export async function listStatuses(
  { pool }: Pooled,
  filter: StatusFilter,
  { skip, take }: Rows,
): Promise<StatusWithAuthor[]> {
  const { where, values, shape } = conditionOf(filter)
  const direction = filter.newestFirst ? 'DESC' : 'ASC'
  const order = `ORDER BY ${filter.byPipeline ? `s.pipeline_id ${direction}, ` : ''}s.id ${direction}`
  // The subquery finds the ids of the page in the index alone, so skipped rows are not read.
  const ids = `SELECT s.id FROM commit_statuses s WHERE ${where} ${order}
    LIMIT $${values.length + 1} OFFSET $${values.length + 2}`
  const { rows } = await pool.query<StatusRow>({
    // PostgreSQL cuts names at 63 bytes, so the name has the order in short.
    name: `statuses ${direction}${filter.byPipeline ? ' by pipeline' : ''} ${shape}`,
    text: `SELECT ${statusColumns} FROM (${ids}) page JOIN commit_statuses s ON s.project_id = $1 AND s.id = page.id
       LEFT JOIN users u ON u.id = s.author_id ${order}`,
    values: [...values, take, skip],
  })
  return rows.map(statusOf)
}

export async function findStatus(
  { pool }: Pooled,
  projectId: number,
  id: bigint,
): Promise<StatusWithAuthor | null> {
  const { rows } = await pool.query<StatusRow>({
    name: 'status',
    text: `SELECT ${statusColumns} FROM commit_statuses s LEFT JOIN users u ON u.id = s.author_id
      WHERE s.project_id = $1 AND s.id = $2`,
    values: [projectId, id],
  })
  return rows[0] ? statusOf(rows[0]) : null
}

/**
 * Returns a condition for the given filters only, so that PostgreSQL plans and prepares each combination of
 * filters separately.
 */
function conditionOf({ projectId, sha, ref, stage, name, pipelineId, states, latest }: StatusFilter) {
  const parameters = new SqlParameters()
  const conditions = [`s.project_id = ${parameters.add(projectId)}`]
  const columns = Object.entries({ sha, ref, stage, name, pipeline_id: pipelineId }).filter(
    ([, value]) => value !== undefined,
  )
  for (const [column, value] of columns) conditions.push(`s.${column} = ${parameters.add(value)}`)
  if (states) conditions.push(`s.status = ANY (${parameters.add(states)})`)
  if (latest) conditions.push('NOT s.superseded')
  const names = columns.map(([column]) => column)
  // The usual column is left out of the name, because PostgreSQL limits names to 63 characters.
  const scope = sha === undefined ? ['project'] : []
  const given = [...scope, ...names.filter((column) => column !== 'sha'), ...(states ? ['states'] : [])]
  const shape = [...given, latest ? 'latest' : 'all'].join(' ')
  return { where: conditions.join(' AND '), values: parameters.values, shape }
}

export async function findNewestStatus(
  database: Pooled,
  projectId: number,
): Promise<StatusWithAuthor | null> {
  const filter = { projectId, latest: false, newestFirst: true }
  const [newest] = await listStatuses(database, filter, { skip: 0, take: 1 })
  return newest ?? null
}

/** Returns whether this commit and ref have a status. */
export async function hasCommitStatus(
  { pool }: Pooled,
  { projectId, sha, ref }: { projectId: number; sha: string; ref: string },
): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'has-commit-status',
    text: `SELECT FROM commit_statuses WHERE project_id = $1 AND sha = $2 AND ref = $3 AND NOT superseded LIMIT 1`,
    values: [projectId, sha, ref],
  })
  return rowCount === 1
}

/** Lists the distinct states of the newest statuses of a commit, for its aggregated state. */
export async function listCountedStatuses(
  { pool }: Pooled,
  projectId: number,
  sha: string,
): Promise<CountedStatus[]> {
  const { rows } = await pool.query<CountedStatus>({
    name: 'counted-commit-statuses',
    text: `SELECT DISTINCT status, allow_failure AS "allowFailure"
      FROM commit_statuses WHERE project_id = $1 AND sha = $2 AND NOT superseded`,
    values: [projectId, sha],
  })
  return rows
}
