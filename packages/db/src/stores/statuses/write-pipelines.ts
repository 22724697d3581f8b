import { unprocessable } from '@switchyard/domain'
import { aggregateStatus, type CountedStatus } from '@switchyard/domain/commit-status'
import type pg from 'pg'
import { queryOf } from '../../sql/write-rows.js'
import { openPipelineRows, type PipelineLabel, updatePipelineRows } from './pipeline-row.js'
import { pipelineKey } from './pipelines.js'

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
  const items = distinct.map((label) => ({ ...label, createdAt: now, updatedAt: now }))
  const { rows } = await client.query<PipelineLabel & { id: string; before: string }>(
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
  const items = states.map(({ pipeline: { projectId, id }, ...state }) => ({ ...state, projectId, id }))
  await client.query(queryOf(updatePipelineRows, items))
  return new Map(states.map(({ pipeline, status }) => [pipelineKey(pipeline), status]))
}
