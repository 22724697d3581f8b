import type { CommitStatus, User } from '../../generated/client.js'

/** What answers show of whoever first posted a status. */
export type StatusAuthor = Pick<User, 'id' | 'username' | 'name' | 'state'>

export type StatusWithAuthor = CommitStatus & { author: StatusAuthor | null }

/** What a status is about: posts to the same label change one record as long as it is active. */
export interface StatusLabel {
  projectId: number
  sha: string
  ref: string | null
  name: string
}

/** A row of {@link statusColumns}, as the driver gives it. */
export interface StatusRow extends Omit<StatusWithAuthor, 'id' | 'author'> {
  id: string
  authorUsername: string | null
  authorName: string | null
  authorState: string | null
}

/** Of `commit_statuses s LEFT JOIN users u ON u.id = s.author_id`. */
export const statusColumns = `s.id, s.project_id AS "projectId", s.sha, s.ref, s.name, s.stage, s.status, s.description,
  s.target_url AS "targetUrl", s.coverage, s.allow_failure AS "allowFailure", s.author_id AS "authorId",
  s.created_at AS "createdAt", s.updated_at AS "updatedAt", s.started_at AS "startedAt",
  s.finished_at AS "finishedAt", s.superseded,
  u.username AS "authorUsername", u.name AS "authorName", u.state AS "authorState"`

export function statusOf({
  authorUsername,
  authorName,
  authorState,
  id,
  ...columns
}: StatusRow): StatusWithAuthor {
  const author =
    columns.authorId === null || authorUsername === null
      ? null
      : {
          id: columns.authorId,
          username: authorUsername,
          name: authorName ?? '',
          state: authorState ?? '',
        }
  return { ...columns, id: BigInt(id), author }
}
