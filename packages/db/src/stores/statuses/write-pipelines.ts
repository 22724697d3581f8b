import { unprocessable } from '@switchyard/domain'
import { aggregateStatus, type CountedStatus } from '@switchyard/domain/commit-status'
import type pg from 'pg'
import { type PipelineLabel, pipelineKey } from './pipelines.js'

/** The statuses of a pipeline are read at each post, so there is a limit. */
const pipelineJobsMax = 10_000

/** A pipeline that posts belong to. Its row is locked until the transaction ends. */
export interface OpenPipeline extends PipelineLabel {
  id: bigint
  /** The state before the posts; `created` for a new pipeline. */
  before: string
}

/** By {@link pipelineKey}. */
export type OpenPipelines = ReadonlyMap<string, OpenPipeline>

/**
 * Finds or creates the pipelines of these labels and locks their rows, in one order for all writers. So of two transactions
 * that finish the last jobs of a pipeline, the second one sees the finished pipeline. Every writer must lock its groups first.
 */
export async function openPipelines(
  client: pg.PoolClient,
  labels: readonly (PipelineLabel & { authorId: number | null })[],
  now: Date,
): Promise<OpenPipelines> {
  const distinct = [...new Map(labels.map((label) => [pipelineKey(label), label])).values()]
  const { rows } = await client.query<PipelineLabel & { id: string; before: string }>({
    name: 'open-pipelines',
    text: `INSERT INTO pipelines (project_id, sha, ref, author_id, created_at, updated_at)
      SELECT project_id, sha, ref, author_id, $5, $5
      FROM unnest($1::int[], $2::text[], $3::text[], $4::int[]) AS given (project_id, sha, ref, author_id)
      ORDER BY project_id, sha, ref
      ON CONFLICT (project_id, sha, ref) DO UPDATE SET updated_at = EXCLUDED.updated_at
      RETURNING id, project_id AS "projectId", sha, ref, status AS before`,
    values: [
      distinct.map(({ projectId }) => projectId),
      distinct.map(({ sha }) => sha),
      distinct.map(({ ref }) => ref),
      distinct.map(({ authorId }) => authorId),
      now,
    ],
  })
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

/** A null ref is compared separately, because `IS NOT DISTINCT FROM` uses no index. */
const summaries = `SELECT given.number, state.*
  FROM unnest($1::int[], $2::text[], $3::text[]) WITH ORDINALITY AS given (project_id, sha, ref, number)
  CROSS JOIN LATERAL (
    SELECT count(*)::int AS jobs,
      jsonb_agg(DISTINCT jsonb_build_object('status', s.status, 'allowFailure', s.allow_failure)) AS counted,
      min(s.started_at) AS "startedAt",
      CASE WHEN bool_and(s.finished_at IS NOT NULL) THEN max(s.finished_at) END AS "finishedAt",
      avg(s.coverage) AS coverage
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
 * @param grown keys of the pipelines that got another status
 * @returns the state of each pipeline, by key
 * @throws DomainError unprocessable when a pipeline has grown beyond the most statuses
 */
export async function updatePipelines(
  client: pg.PoolClient,
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
  await client.query({
    name: 'change-pipelines',
    text: `UPDATE pipelines p SET status = given.status, started_at = least(p.started_at, given.started_at),
        finished_at = given.finished_at, coverage = given.coverage
      FROM unnest($1::int[], $2::bigint[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::float8[])
        AS given (project_id, id, status, started_at, finished_at, coverage)
      WHERE p.project_id = given.project_id AND p.id = given.id`,
    values: [
      states.map(({ pipeline }) => pipeline.projectId),
      states.map(({ pipeline }) => String(pipeline.id)),
      states.map(({ status }) => status),
      states.map(({ startedAt }) => startedAt),
      states.map(({ finishedAt }) => finishedAt),
      states.map(({ coverage }) => coverage),
    ],
  })
  return new Map(states.map(({ pipeline, status }) => [pipelineKey(pipeline), status]))
}
