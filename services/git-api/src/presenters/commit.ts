import type { PipelineWithAuthor, Project } from '@switchyard/db'
import { type Commit, type CommitStats, signatureTime, titleOf, trailersOf } from '@switchyard/domain/commit'
import { link, timeText } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { pipelineBasicShape, presentPipelineBasic } from './pipeline-basic.js'

const statsShape = z
  .object({ additions: z.int(), deletions: z.int(), total: z.int() })
  .nullable()
  .meta({ description: 'Only when requested; null when git cannot compare the commit with its parent' })
  .optional()

const commitFields = {
  id: z.string(),
  short_id: z.string(),
  title: z.string(),
  message: z.string(),
  author_name: z.string(),
  author_email: z.string(),
  authored_date: timeText(),
  committer_name: z.string(),
  committer_email: z.string(),
  committed_date: timeText(),
  created_at: timeText(),
  parent_ids: z.array(z.string()),
  trailers: z.record(z.string(), z.string()),
  web_url: link(),
}

export const commitShape = z
  .object({ ...commitFields, stats: statsShape })
  .meta({ id: 'Commit', description: 'A commit in a list' })

export const commitDetailShape = z
  .object({
    ...commitFields,
    stats: statsShape,
    status: z.string().nullable(),
    project_id: z.int(),
    last_pipeline: pipelineBasicShape.nullable(),
  })
  .meta({ id: 'CommitDetail', description: 'One commit, with the state that follows from its statuses' })

/** A commit in a list. Dates keep the offset of their signature. */
export function presentCommit(
  commit: Commit,
  project: Project,
  baseUrl: string,
): z.output<typeof commitShape> {
  const { id, author, committer, message, parentIds } = commit
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
    parent_ids: parentIds,
    trailers: trailersOf(message),
    web_url: `${baseUrl}/${project.pathWithNamespace}/-/commit/${id}`,
  }
}

/** @param stats null: the commit could not be compared */
export const presentStats = (stats: CommitStats | null) => ({
  stats: stats && { ...stats, total: stats.additions + stats.deletions },
})

interface CommitDetail {
  commit: Commit
  /** Undefined: not requested. Null: the commit could not be compared with its parent. */
  stats: CommitStats | null | undefined
  /** The state that follows from all statuses of the commit; null without any. */
  status: string | null
  /** The newest pipeline of the commit; null without a status. */
  lastPipeline: PipelineWithAuthor | null
}

/** The fields of a commit in a list, the numbers of changed lines, and the state that follows from the statuses. */
export const presentCommitDetail = (
  { commit, stats, status, lastPipeline }: CommitDetail,
  project: Project,
  baseUrl: string,
): z.output<typeof commitDetailShape> => ({
  ...presentCommit(commit, project, baseUrl),
  ...(stats !== undefined && presentStats(stats)),
  status,
  project_id: project.id,
  last_pipeline: lastPipeline && presentPipelineBasic(lastPipeline, project, baseUrl),
})
