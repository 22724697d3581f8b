import type pg from 'pg'
import type { Database } from '../../client.js'
import {
  type PipelineLabel,
  type PipelineRow,
  type PipelineWithAuthor,
  pipelineColumns,
  pipelineOf,
} from './pipeline-row.js'
import { type StatusRow, type StatusWithAuthor, statusColumns, statusOf } from './status-row.js'

/** A pipeline with the newest status of each name, newest first, at most 100. */
export type PipelineWithJobs = PipelineWithAuthor & { jobs: StatusWithAuthor[] }

type Client = Pick<pg.Pool | pg.PoolClient, 'query'>

const toldJobsMax = 100

export const pipelineKey = ({ projectId, sha, ref }: PipelineLabel): string =>
  JSON.stringify([projectId, sha, ref])

const fromPipelines = 'FROM pipelines p LEFT JOIN users u ON u.id = p.author_id'

async function findOne(client: Client, name: string, condition: string, values: unknown[]) {
  const text = `SELECT ${pipelineColumns} ${fromPipelines} WHERE p.project_id = $1 AND ${condition} ORDER BY p.id DESC LIMIT 1`
  const { rows } = await client.query<PipelineRow>({ name, text, values })
  return rows[0] ? pipelineOf(rows[0]) : null
}

/** @param id whole, from 1 */
export const findPipeline = (
  client: Client,
  projectId: number,
  id: bigint,
): Promise<PipelineWithAuthor | null> => findOne(client, 'pipeline', 'p.id = $2', [projectId, id])

/** The newest pipeline of a commit, of any ref. */
export const findLastPipeline = (
  { pool }: Pick<Database, 'pool'>,
  projectId: number,
  sha: string,
): Promise<PipelineWithAuthor | null> => findOne(pool, 'last-pipeline', 'p.sha = $2', [projectId, sha])

/** The pipeline of a commit and ref. */
export const findPipelineOfRef = (
  { pool }: Pick<Database, 'pool'>,
  { projectId, sha, ref }: { projectId: number; sha: string; ref: string },
): Promise<PipelineWithAuthor | null> =>
  findOne(pool, 'pipeline-of-ref', 'p.sha = $2 AND p.ref = $3', [projectId, sha, ref])

/** The newest pipeline of a ref in one of these states. */
export const findNewestPipeline = (
  { pool }: Pick<Database, 'pool'>,
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
      ORDER BY s.id DESC LIMIT ${toldJobsMax}`,
    values: [projectId, pipeline.sha, id],
  })
  return { ...pipeline, jobs: rows.map(statusOf) }
}

/** The newest pipeline of each of these refs, by the project; a project whose ref has none is missing. */
export async function findNewestPipelines(
  { pool }: Pick<Database, 'pool'>,
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

/** Undefined: any. */
export interface PipelineFilter {
  projectId: number
  states?: readonly string[] | undefined
  sha?: string | undefined
  ref?: string | undefined
  /** The newest pipeline of each of these refs. */
  newestOf?: readonly string[] | undefined
  username?: string | undefined
  createdAfter?: Date | undefined
  createdBefore?: Date | undefined
  updatedAfter?: Date | undefined
  updatedBefore?: Date | undefined
}

/** One page of the pipelines of a project, and the number of all that the filter finds. */
export async function listPipelines(
  { pool }: Pick<Database, 'pool'>,
  filter: PipelineFilter,
  order: { by: keyof typeof pipelineOrders; descending: boolean },
  { skip, take }: { skip: number; take: number },
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
  const values: unknown[] = [projectId]
  const parts = ['p.project_id = $1']
  for (const [condition, value] of conditions) {
    if (value !== undefined) parts.push(condition(`$${values.push(value)}`))
  }
  return { where: parts.join(' AND '), values }
}
