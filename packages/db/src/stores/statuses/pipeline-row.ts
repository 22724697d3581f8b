import type { Pipeline } from '../../generated/client.js'
import {
  bigint,
  float,
  integer,
  pick,
  rowColumns,
  rowReader,
  selectList,
  text,
  time,
} from '../../sql/row-columns.js'
import { insertInto, updateIn } from '../../sql/write-rows.js'
import { type AuthorRow, authorColumns, type StatusAuthor, withAuthor } from './author.js'

/** A pipeline: all statuses of one commit and ref together. It corresponds to a pipeline of GitLab. */
export interface PipelineLabel {
  projectId: number
  sha: string
  ref: string | null
}

/** @property author of its first status */
export type PipelineWithAuthor = Pipeline & { author: StatusAuthor | null }

/** The one list of the columns of `pipelines`. */
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
  // The statuses that a pipeline has left may have begun earlier.
  startedAt: { ...time('started_at'), expression: 'least(stored.started_at, given.started_at)' },
  finishedAt: time('finished_at'),
})

/**
 * Adds the pipelines that are missing and locks the rows of the others, in one order for all writers. Returns them with the state
 * that they had before.
 */
export const openPipelineRows = insertInto(
  'open-pipelines',
  'pipelines',
  pick(columns, 'projectId', 'sha', 'ref', 'authorId', 'createdAt', 'updatedAt'),
  `ORDER BY given.project_id, given.sha, given.ref
    ON CONFLICT (project_id, sha, ref) DO UPDATE SET updated_at = EXCLUDED.updated_at
    RETURNING stored.id, stored.project_id AS "projectId", stored.sha, stored.ref, stored.status AS before`,
)

/** Writes what follows from the statuses. */
export const updatePipelineRows = updateIn(
  'change-pipelines',
  'pipelines',
  pick(columns, 'projectId', 'id'),
  pick(columns, 'status', 'startedAt', 'finishedAt', 'coverage'),
)

/** A row of {@link pipelineColumns}, as node-postgres returns it. */
export type PipelineRow = Record<keyof Pipeline, unknown> & AuthorRow

/** Columns of `pipelines p LEFT JOIN users u ON u.id = p.author_id`. */
export const pipelineColumns = `${selectList('p', columns)}, ${authorColumns}`

const read = rowReader(columns)

export const pipelineOf = (row: PipelineRow): PipelineWithAuthor => {
  const { author, ...pipeline } = withAuthor(row)
  return { ...read(pipeline), author }
}
