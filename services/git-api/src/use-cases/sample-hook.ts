import { findNewestComment, findNewestStatus, findPipeline, type NewDelivery } from '@switchyard/db'
import { invalid } from '@switchyard/domain'
import type { Repository } from '@switchyard/git-storage'
import type { ProjectWebhookEvent } from '@switchyard/webhooks'
import type { Dependencies } from '../dependencies.js'
import { jobHook } from '../presenters/hooks/job-hook.js'
import { noteHook } from '../presenters/hooks/note-hook.js'
import { pipelineHook } from '../presenters/hooks/pipeline-hook.js'
import { pushHook } from '../presenters/hooks/push-hook.js'
import { getCommit } from './get-commit.js'
import { type Change, pushedCommits } from './references-changed.js'

export type SampledEvent = ProjectWebhookEvent

/**
 * The newest event of a kind, as webhooks would be told of it: the last commit of the default branch as a push or a
 * tag, the last comment, the last status and what it belongs to.
 *
 * @throws DomainError invalid when there has been none
 */
export async function sampleHook(
  { database, git }: Pick<Dependencies, 'database' | 'git'>,
  event: SampledEvent,
  change: Change,
  signal: AbortSignal,
): Promise<Omit<NewDelivery, 'webhookId'>> {
  const { project } = change
  const repository = git.open(project, { signal })
  switch (event) {
    case 'push':
    case 'tag_push':
      return samplePush(repository, event, change)
    case 'note': {
      const comment = await findNewestComment(database, project.id)
      if (!comment) throw invalid('Ensure the project has notes.')
      return noteHook(comment, { ...change, commit: await getCommit(repository, comment.sha) })
    }
    case 'job': {
      const status = await findNewestStatus(database, project.id)
      if (!status) throw invalid('Ensure the project has CI jobs.')
      return jobHook(status, { ...change, commit: await getCommit(repository, status.sha) })
    }
    case 'pipeline': {
      const status = await findNewestStatus(database, project.id)
      const pipeline = status && (await findPipeline(database.pool, status))
      if (!pipeline) throw invalid('Ensure the project has CI pipelines.')
      return pipelineHook(pipeline, { ...change, commit: await getCommit(repository, pipeline.sha) })
    }
  }
}

const zeroId = '0'.repeat(40)

async function samplePush(repository: Repository, event: 'push' | 'tag_push', change: Change) {
  const branch = `refs/heads/${change.project.defaultBranch}`
  const commit = await repository.findCommit(branch)
  if (!commit) throw invalid('Ensure the project has at least one commit.')
  const moved =
    event === 'push'
      ? { ref: branch, before: commit.parentIds[0] ?? zeroId, after: commit.id }
      : { ref: 'refs/tags/test', before: zeroId, after: commit.id }
  return pushHook(moved, await pushedCommits(repository, change.project, moved), change)
}
