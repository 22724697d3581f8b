import type { Pipeline, Pool, PoolClient, Pooled, Rows } from '@switchyard/db'
import {
  bigint,
  float,
  insertInto,
  integer,
  pick,
  queryOf,
  rowColumns,
  rowReader,
  SqlParameters,
  selectList,
  text,
  time,
  updateIn,
} from '@switchyard/db/sql'
import { unprocessable } from '@switchyard/domain'
import { aggregateStatus, type CountedStatus, coverageMax } from '@switchyard/domain/commit-status'
import {
  type AuthorRow,
  authorColumns,
  type StatusAuthor,
  type StatusRow,
  type StatusWithAuthor,
  statusColumns,
  statusOf,
  withAuthor,
} from '../statuses/store.js'

/**
 * The commit and ref of a pipeline. A pipeline has all statuses of a commit and ref, and corresponds to a
 * pipeline of GitLab.
 */
export interface CommitAndRef {
  projectId: number
  sha: string
  ref: string | null
}

/** @property author of its first status */
export type PipelineWithAuthor = Pipeline & { author: StatusAuthor | null }

/** The columns of `pipelines`. */
const columns = rowColumns<Pipeline>({
  projectId: integer('project_id'),
  id: bigint('id'),
  sha: text('sha'),
  ref: text('ref'),
  status: text('status'),
  coverage: float('coverage'),
  authorId: integer('author_id'),
  createdAt: time('created_at'),
  updatedAt: time('updated_at'),
  // The statuses that have left a pipeline may have begun earlier.
  startedAt: { ...time('started_at'), expression: 'least(stored.started_at, given.started_at)' },
  finishedAt: time('finished_at'),
})

/**
 * Adds missing pipelines, locks the rows of the others in the same order in every writer, and returns all
 * with the state that they had before.
 */
const openPipelineRows = insertInto(
  'open-pipelines',
  'pipelines',
  pick(columns, 'projectId', 'sha', 'ref', 'authorId', 'createdAt', 'updatedAt'),
  `ORDER BY given.project_id, given.sha, given.ref
    ON CONFLICT (project_id, sha, ref) DO UPDATE SET updated_at = EXCLUDED.updated_at
    RETURNING stored.id, stored.project_id AS "projectId", stored.sha, stored.ref, stored.status AS before`,
)

/** Writes the state that follows from the statuses. */
const updatePipelineRows = updateIn(
  'change-pipelines',
  'pipelines',
  pick(columns, 'projectId', 'id'),
  pick(columns, 'status', 'startedAt', 'finishedAt', 'coverage'),
)

/** A row of {@link pipelineColumns}, as node-postgres returns it. */
export type PipelineRow = Record<keyof Pipeline, unknown> & AuthorRow

/** Columns of `pipelines p LEFT JOIN users u ON u.id = p.author_id`. */
const pipelineColumns = `${selectList('p', columns)}, ${authorColumns}`

const read = rowReader(columns)

const pipelineOf = (row: PipelineRow): PipelineWithAuthor => {
  const { author, ...pipeline } = withAuthor(row)
  return { ...read(pipeline), author }
}

/** A pipeline with the newest status of each name, newest first, at most 100. */
export type PipelineWithJobs = PipelineWithAuthor & { jobs: StatusWithAuthor[] }

type Client = Pick<Pool | PoolClient, 'query'>

const hookJobsMax = 100

export const pipelineKey = ({ projectId, sha, ref }: CommitAndRef): string =>
  JSON.stringify([projectId, sha, ref])

const fromPipelines = 'FROM pipelines p LEFT JOIN users u ON u.id = p.author_id'

async function findOne(client: Client, name: string, condition: string, values: unknown[]) {
  const text = `SELECT ${pipelineColumns} ${fromPipelines} WHERE p.project_id = $1 AND ${condition} ORDER BY p.id DESC LIMIT 1`
  const { rows } = await client.query<PipelineRow>({ name, text, values })
  return rows[0] ? pipelineOf(rows[0]) : null
}

/** @param id a whole number from 1 */
export const findPipeline = (
  client: Client,
  projectId: number,
  id: bigint,
): Promise<PipelineWithAuthor | null> => findOne(client, 'pipeline', 'p.id = $2', [projectId, id])

/** Finds pipelines of a project by their ids. */
export async function findPipelines(
  { pool }: Pooled,
  projectId: number,
  ids: readonly bigint[],
): Promise<Map<bigint, PipelineWithAuthor>> {
  const { rows } = await pool.query<PipelineRow>({
    name: 'pipelines-by-id',
    text: `SELECT ${pipelineColumns} ${fromPipelines} WHERE p.project_id = $1 AND p.id = ANY ($2)`,
    values: [projectId, ids],
  })
  return new Map(rows.map(pipelineOf).map((pipeline) => [pipeline.id, pipeline]))
}

/** Finds the newest pipeline of a commit, of any ref. */
export const findLastPipeline = (
  { pool }: Pooled,
  projectId: number,
  sha: string,
): Promise<PipelineWithAuthor | null> => findOne(pool, 'last-pipeline', 'p.sha = $2', [projectId, sha])

/** Finds the pipeline of a commit and ref. */
export const findPipelineOfRef = (
  { pool }: Pooled,
  { projectId, sha, ref }: { projectId: number; sha: string; ref: string },
): Promise<PipelineWithAuthor | null> =>
  findOne(pool, 'pipeline-of-ref', 'p.sha = $2 AND p.ref = $3', [projectId, sha, ref])

/** Finds the newest pipeline of a ref in one of the given states. */
export const findNewestPipeline = (
  { pool }: Pooled,
  { projectId, ref, states }: { projectId: number; ref: string; states: readonly string[] },
): Promise<PipelineWithAuthor | null> =>
  findOne(pool, 'newest-pipeline', 'p.ref = $2 AND p.status = ANY ($3)', [projectId, ref, states])

/** Reads a pipeline with its jobs; null when there is no such pipeline. */
export async function findPipelineWithJobs(
  client: Client,
  projectId: number,
  id: bigint,
): Promise<PipelineWithJobs | null> {
  const pipeline = await findPipeline(client, projectId, id)
  if (!pipeline) return null
  const { rows } = await client.query<StatusRow>({
    name: 'jobs-of-pipeline',
    text: `SELECT ${statusColumns} FROM commit_statuses s LEFT JOIN users u ON u.id = s.author_id
      WHERE s.project_id = $1 AND s.sha = $2 AND s.pipeline_id = $3 AND NOT s.superseded
      ORDER BY s.id DESC LIMIT ${hookJobsMax}`,
    values: [projectId, pipeline.sha, id],
  })
  return { ...pipeline, jobs: rows.map(statusOf) }
}

/**
 * Finds the newest pipeline of each given ref, by project; a project whose ref has no pipeline is missing.
 */
export async function findNewestPipelines(
  { pool }: Pooled,
  refs: readonly { projectId: number; ref: string }[],
): Promise<Map<number, PipelineWithAuthor>> {
  const { rows } = await pool.query<PipelineRow>({
    name: 'newest-pipelines',
    text: `SELECT ${pipelineColumns} FROM unnest($1::int[], $2::text[]) AS given(project_id, ref)
      CROSS JOIN LATERAL (SELECT * FROM pipelines WHERE project_id = given.project_id AND ref = given.ref
        ORDER BY id DESC LIMIT 1) p
      LEFT JOIN users u ON u.id = p.author_id`,
    values: [refs.map(({ projectId }) => projectId), refs.map(({ ref }) => ref)],
  })
  return new Map(rows.map(pipelineOf).map((pipeline) => [pipeline.projectId, pipeline]))
}

export const pipelineOrders = {
  id: 'p.id',
  status: 'p.status',
  ref: 'p.ref',
  updated_at: 'p.updated_at',
  user_id: 'p.author_id',
} as const

/** Conditions on pipelines. Undefined: any value. */
export interface PipelineFilter {
  projectId: number
  states?: readonly string[] | undefined
  sha?: string | undefined
  ref?: string | undefined
  /** Only the newest pipeline of each of the given refs. */
  newestOf?: readonly string[] | undefined
  username?: string | undefined
  createdAfter?: Date | undefined
  createdBefore?: Date | undefined
  updatedAfter?: Date | undefined
  updatedBefore?: Date | undefined
}

/** Returns one page of the pipelines of a project, and the number of all that match. */
export async function listPipelines(
  { pool }: Pooled,
  filter: PipelineFilter,
  order: { by: keyof typeof pipelineOrders; descending: boolean },
  { skip, take }: Rows,
): Promise<{ pipelines: PipelineWithAuthor[]; total: number }> {
  const { where, values } = conditionOf(filter)
  const direction = order.descending ? 'DESC' : 'ASC'
  const by = order.by === 'id' ? '' : `${pipelineOrders[order.by]} ${direction} NULLS LAST, `
  const [page, count] = await Promise.all([
    pool.query<PipelineRow>({
      text: `SELECT ${pipelineColumns} ${fromPipelines} WHERE ${where} ORDER BY ${by}p.id ${direction}
        LIMIT $${values.length + 1} OFFSET $${values.length + 2}`,
      values: [...values, take, skip],
    }),
    pool.query<{ total: number }>({
      text: `SELECT count(*)::int AS total ${fromPipelines} WHERE ${where}`,
      values,
    }),
  ])
  return { pipelines: page.rows.map(pipelineOf), total: count.rows[0]?.total ?? 0 }
}

const newerOfRef = `SELECT FROM pipelines newer
    WHERE newer.project_id = p.project_id AND newer.ref = p.ref AND newer.id > p.id`

function conditionOf({ projectId, ...filter }: PipelineFilter) {
  const conditions: [condition: (parameter: string) => string, value: unknown][] = [
    [(at) => `p.status = ANY (${at})`, filter.states],
    [(at) => `p.sha = ${at}`, filter.sha],
    [(at) => `p.ref = ${at}`, filter.ref],
    [(at) => `p.ref = ANY (${at}) AND NOT EXISTS (${newerOfRef})`, filter.newestOf],
    [(at) => `u.username_key = lower(${at})`, filter.username],
    [(at) => `p.created_at > ${at}`, filter.createdAfter],
    [(at) => `p.created_at < ${at}`, filter.createdBefore],
    [(at) => `p.updated_at > ${at}`, filter.updatedAfter],
    [(at) => `p.updated_at < ${at}`, filter.updatedBefore],
  ]
  const parameters = new SqlParameters()
  const parts = [`p.project_id = ${parameters.add(projectId)}`]
  for (const [condition, value] of conditions) {
    if (value !== undefined) parts.push(condition(parameters.add(value)))
  }
  return { where: parts.join(' AND '), values: parameters.values }
}

/** Most statuses of a pipeline. There is a limit because each post reads all of them. */
const pipelineJobsMax = 10_000

/** A pipeline to which posts add statuses. Its row is locked until the transaction ends. */
export interface OpenPipeline extends CommitAndRef {
  id: bigint
  /** The state before the posts; `created` for a new pipeline. */
  before: string
}

/** Open pipelines by {@link pipelineKey}. */
export type OpenPipelines = ReadonlyMap<string, OpenPipeline>

/**
 * Finds or creates the pipelines of statuses and locks their rows in the same order in every writer. So
 * when two transactions finish the last jobs of a pipeline, the second one sees the finished pipeline. Every
 * writer must lock the names of its statuses first.
 */
export async function openPipelines(
  client: PoolClient,
  statuses: readonly (CommitAndRef & { authorId: number | null })[],
  now: Date,
): Promise<OpenPipelines> {
  const distinct = [...new Map(statuses.map((status) => [pipelineKey(status), status])).values()]
  const items = distinct.map((status) => ({ ...status, createdAt: now, updatedAt: now }))
  const { rows } = await client.query<CommitAndRef & { id: string; before: string }>(
    queryOf(openPipelineRows, items),
  )
  return new Map(rows.map((row) => [pipelineKey(row), { ...row, id: BigInt(row.id) }]))
}

interface Summary {
  /** Number of the pipeline, from 1. */
  number: string
  jobs: number
  counted: CountedStatus[] | null
  startedAt: Date | null
  finishedAt: Date | null
  coverage: number | null
}

/**
 * A null ref is compared separately, because `IS NOT DISTINCT FROM` uses no index. A stored coverage may be
 * out of range, and `avg` fails for very large ones.
 */
const summaries = `SELECT given.number, state.*
  FROM unnest($1::int[], $2::text[], $3::text[]) WITH ORDINALITY AS given (project_id, sha, ref, number)
  CROSS JOIN LATERAL (
    SELECT count(*)::int AS jobs,
      jsonb_agg(DISTINCT jsonb_build_object('status', s.status, 'allowFailure', s.allow_failure)) AS counted,
      min(s.started_at) AS "startedAt",
      CASE WHEN bool_and(s.finished_at IS NOT NULL) THEN max(s.finished_at) END AS "finishedAt",
      avg(s.coverage) FILTER (WHERE abs(s.coverage) <= ${coverageMax}) AS coverage
    FROM (
      SELECT * FROM commit_statuses
      WHERE project_id = given.project_id AND sha = given.sha AND ref = given.ref AND NOT superseded
      UNION ALL
      SELECT * FROM commit_statuses
      WHERE given.ref IS NULL AND project_id = given.project_id AND sha = given.sha AND ref IS NULL
        AND NOT superseded
    ) s
  ) state`

/**
 * Derives the state of pipelines from their statuses.
 *
 * @param grown keys of the pipelines that got a new status
 * @returns the state of each pipeline, by key
 * @throws DomainError unprocessable when a pipeline has too many statuses
 */
export async function updatePipelines(
  client: PoolClient,
  open: OpenPipelines,
  grown: ReadonlySet<string>,
): Promise<Map<string, string>> {
  const pipelines = [...open.values()]
  const { rows } = await client.query<Summary>({
    name: 'summaries-of-pipelines',
    text: summaries,
    values: [
      pipelines.map(({ projectId }) => projectId),
      pipelines.map(({ sha }) => sha),
      pipelines.map(({ ref }) => ref),
    ],
  })
  const states = rows.map((summary) => {
    const pipeline = pipelines[Number(summary.number) - 1] as OpenPipeline
    if (summary.jobs > pipelineJobsMax && grown.has(pipelineKey(pipeline))) {
      throw unprocessable('The number of jobs has exceeded the limit')
    }
    return { ...summary, pipeline, status: aggregateStatus(summary.counted ?? []) ?? 'created' }
  })
  const items = states.map(({ pipeline: { projectId, id }, ...state }) => ({ ...state, projectId, id }))
  await client.query(queryOf(updatePipelineRows, items))
  return new Map(states.map(({ pipeline, status }) => [pipelineKey(pipeline), status]))
}
