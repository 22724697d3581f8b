import type { CommitStatus } from '../../generated/client.js'
import {
  bigint,
  final,
  flag,
  float,
  integer,
  omit,
  pick,
  rowColumns,
  rowReader,
  selectList,
  text,
  time,
} from '../../sql/row-columns.js'
import { insertInto, updateIn } from '../../sql/write-rows.js'
import { type AuthorRow, authorColumns, type StatusAuthor, withAuthor } from './author.js'

export type StatusWithAuthor = CommitStatus & { author: StatusAuthor | null }

/** The subject of a status. Posts to one label change one record as long as the record is active. */
export interface StatusLabel {
  projectId: number
  sha: string
  ref: string | null
  name: string
}

/** The one list of the columns of `commit_statuses`. */
const columns = rowColumns<CommitStatus>({
  projectId: final(integer('project_id')),
  id: final(bigint('id')),
  sha: final(text('sha')),
  ref: final(text('ref')),
  pipelineId: final(bigint('pipeline_id')),
  name: final(text('name')),
  stage: final(text('stage')),
  status: text('status'),
  description: text('description'),
  targetUrl: text('target_url'),
  coverage: float('coverage'),
  allowFailure: final(flag('allow_failure')),
  authorId: final(integer('author_id')),
  createdAt: final(time('created_at')),
  updatedAt: time('updated_at'),
  startedAt: time('started_at'),
  finishedAt: time('finished_at'),
  superseded: flag('superseded'),
})

/** Returns the new ids. */
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
