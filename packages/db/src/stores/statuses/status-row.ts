import type { CommitStatus, User } from '../../generated/client.js'

/** The columns of a status's author that answers show. */
export type StatusAuthor = Pick<User, 'id' | 'username' | 'name' | 'state'>

export type StatusWithAuthor = CommitStatus & { author: StatusAuthor | null }

/** The subject of a status. Posts to one label change one record as long as the record is active. */
export interface StatusLabel {
  projectId: number
  sha: string
  ref: string | null
  name: string
}

/** A row of {@link statusColumns}, as node-postgres returns it. */
export interface StatusRow extends Omit<StatusWithAuthor, 'id' | 'pipelineId' | 'author'> {
  id: string
  pipelineId: string
  authorUsername: string | null
  authorName: string | null
  authorState: string | null
}

/** Columns of `commit_statuses s LEFT JOIN users u ON u.id = s.author_id`. */
export const statusColumns = `s.id, s.project_id AS "projectId", s.sha, s.ref, s.pipeline_id AS "pipelineId", s.name, s.stage, s.status, s.description,
  s.target_url AS "targetUrl", s.coverage, s.allow_failure AS "allowFailure", s.author_id AS "authorId",
  s.created_at AS "createdAt", s.updated_at AS "updatedAt", s.started_at AS "startedAt",
  s.finished_at AS "finishedAt", s.superseded,
  u.username AS "authorUsername", u.name AS "authorName", u.state AS "authorState"`

export function statusOf({ authorUsername, authorName, authorState, ...row }: StatusRow): StatusWithAuthor {
  const author =
    row.authorId === null || authorUsername === null
      ? null
      : { id: row.authorId, username: authorUsername, name: authorName ?? '', state: authorState ?? '' }
  return { ...row, id: BigInt(row.id), pipelineId: BigInt(row.pipelineId), author }
}
