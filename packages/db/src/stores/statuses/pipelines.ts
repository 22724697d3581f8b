import { aggregateStatus, type CountedStatus } from '@switchyard/domain/commit-status'
import type pg from 'pg'
import { type StatusRow, type StatusWithAuthor, statusColumns, statusOf } from './status-row.js'

/** A pipeline: all statuses of one commit and ref together. It corresponds to a pipeline of GitLab. */
export interface PipelineLabel {
  projectId: number
  sha: string
  ref: string | null
}

/** The current state of a pipeline. */
export interface Pipeline extends PipelineLabel {
  /** Id of its first status, which is unique and never changes. */
  id: bigint
  status: string
  createdAt: Date
  startedAt: Date | null
  /** Null while a status is unfinished. */
  finishedAt: Date | null
  /** The newest status of each name, newest first, at most 100. */
  jobs: StatusWithAuthor[]
}

type Client = Pick<pg.Pool | pg.PoolClient, 'query'>

const jobsMax = 100

export const pipelineKey = ({ projectId, sha, ref }: PipelineLabel): string =>
  JSON.stringify(['pipeline', projectId, sha, ref])

const ofPipeline = 's.project_id = $1 AND s.sha = $2 AND (s.ref = $3 OR $3::text IS NULL AND s.ref IS NULL)'

interface Summary {
  id: string | null
  createdAt: Date
  startedAt: Date | null
  finishedAt: Date | null
  counted: CountedStatus[] | null
}

/** The state of a pipeline; null when it has no status. */
export async function pipelineStatus(client: Client, { projectId, sha, ref }: PipelineLabel) {
  const { rows } = await client.query<CountedStatus>({
    name: 'counted-of-pipeline',
    text: `SELECT DISTINCT s.status, s.allow_failure AS "allowFailure"
      FROM commit_statuses s WHERE ${ofPipeline} AND NOT s.superseded`,
    values: [projectId, sha, ref],
  })
  return aggregateStatus(rows)
}

/** Reads a pipeline; null when it has no status. */
export async function findPipeline(client: Client, label: PipelineLabel): Promise<Pipeline | null> {
  const values = [label.projectId, label.sha, label.ref]
  const { rows } = await client.query<Summary>({
    name: 'summary-of-pipeline',
    text: `SELECT min(s.id) AS id, min(s.created_at) AS "createdAt", min(s.started_at) AS "startedAt",
        CASE WHEN bool_and(s.finished_at IS NOT NULL) THEN max(s.finished_at) END AS "finishedAt",
        jsonb_agg(DISTINCT jsonb_build_object('status', s.status, 'allowFailure', s.allow_failure))
          FILTER (WHERE NOT s.superseded) AS counted
      FROM commit_statuses s WHERE ${ofPipeline}`,
    values,
  })
  const [summary] = rows
  const status = aggregateStatus(summary?.counted ?? [])
  if (!summary?.id || status === null) return null
  const { rows: jobs } = await client.query<StatusRow>({
    name: 'jobs-of-pipeline',
    text: `SELECT ${statusColumns} FROM commit_statuses s LEFT JOIN users u ON u.id = s.author_id
      WHERE ${ofPipeline} AND NOT s.superseded ORDER BY s.id DESC LIMIT ${jobsMax}`,
    values,
  })
  const { createdAt, startedAt, finishedAt } = summary
  return {
    ...label,
    id: BigInt(summary.id),
    status,
    createdAt,
    startedAt,
    finishedAt,
    jobs: jobs.map(statusOf),
  }
}
