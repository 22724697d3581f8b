import type { Project } from '@switchyard/db'
import { type Commit, type CommitStats, signatureTime, titleOf, trailersOf } from '@switchyard/domain/commit'

/** A commit in a list. Dates keep the offset of their signature. */
export function presentCommit(commit: Commit, project: Project, baseUrl: string) {
  const { id, author, committer, message } = commit
  const committedDate = signatureTime(committer)
  return {
    id,
    short_id: id.slice(0, 8),
    title: titleOf(message),
    message,
    author_name: author.name,
    author_email: author.email,
    authored_date: signatureTime(author),
    committer_name: committer.name,
    committer_email: committer.email,
    committed_date: committedDate,
    created_at: committedDate,
    parent_ids: commit.parentIds,
    trailers: trailersOf(message),
    web_url: `${baseUrl}/${project.pathWithNamespace}/-/commit/${id}`,
  }
}

export const presentStats = ({ additions, deletions }: CommitStats) => ({
  stats: { additions, deletions, total: additions + deletions },
})

export interface CommitDetail {
  commit: Commit
  /** Undefined: not asked for. */
  stats: CommitStats | undefined
  /** Aggregated state of its statuses; null without any. */
  status: string | null
}

/** A commit by itself: what a list shows, its stats, and what its statuses say. */
export const presentCommitDetail = (
  { commit, stats, status }: CommitDetail,
  project: Project,
  baseUrl: string,
) => ({
  ...presentCommit(commit, project, baseUrl),
  ...(stats && presentStats(stats)),
  status,
  project_id: project.id,
})
