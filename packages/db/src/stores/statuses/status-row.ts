import type { CommitStatus, User } from '../../generated/client.js'

/** What answers show of the user who first posted a status. */
export type StatusAuthor = Pick<User, 'id' | 'username' | 'name' | 'state'>

export type StatusWithAuthor = CommitStatus & { author: StatusAuthor | null }

/** What a status is about: posts to one label change one record as long as it is active. */
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

/** Field by field: to copy the rest of a row takes thirty times as long, and lists have many. */
export function statusOf(row: StatusRow): StatusWithAuthor {
  return {
    id: BigInt(row.id),
    projectId: row.projectId,
    sha: row.sha,
    ref: row.ref,
    name: row.name,
    stage: row.stage,
    status: row.status,
    description: row.description,
    targetUrl: row.targetUrl,
    coverage: row.coverage,
    allowFailure: row.allowFailure,
    authorId: row.authorId,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    startedAt: row.startedAt,
    finishedAt: row.finishedAt,
    superseded: row.superseded,
    author: authorOf(row),
  }
}

function authorOf({ authorId, authorUsername, authorName, authorState }: StatusRow): StatusAuthor | null {
  if (authorId === null || authorUsername === null) return null
  return { id: authorId, username: authorUsername, name: authorName ?? '', state: authorState ?? '' }
}
