import { randomUUID } from 'node:crypto'
import type { Database, WebhookDelivery } from '@switchyard/db'
import { invalid } from '@switchyard/domain'
import { type Caller, zeroId } from '@switchyard/domain/access'
import { defaultBranchRef, tagRef } from '@switchyard/domain/commit'
import { findCommit } from '@switchyard/git-storage/commits'
import type { Repository } from '@switchyard/git-storage/repository'
import type { Call } from '@switchyard/service-kit/http'
import {
  impactDelivery,
  type NewDelivery,
  type ProjectWebhookEvent,
  previewBody,
  ruleDelivery,
  testWebhook,
} from '@switchyard/webhooks'
import { findPipelineWithJobs } from '../ci/pipelines/store.js'
import { findNewestStatus } from '../ci/statuses/store.js'
import { findNewestDeployment } from '../delivery/deployments/store.js'
import { findNewestRule } from '../delivery/impact-rules/store.js'
import { readImpact } from '../delivery/impacts/store.js'
import type { ProjectCall } from '../guards.js'
import { findLastAddedRelease } from '../publishing/releases/store.js'
import { findNewestComment } from '../repository/comments/store.js'
import { getCommit } from '../repository/commits/commits.js'
import { type Change, pushedCommits } from '../repository/pushes/pushes.js'
import { deploymentHook, noteHook, releaseHook } from '../shapes/hooks.js'
import { pushHook } from '../shapes/push-hook.js'
import { jobHook, pipelineHook } from '../shapes/status-hooks.js'
import { ownerOf, rulesOf, type WebhookDependencies } from './webhooks.js'

/**
 * Stores a delivery of the newest event of a kind, even when the webhook does not subscribe to it. The worker
 * sends it soon.
 *
 * @throws DomainError not-found; conflict for a disabled webhook; invalid when there is no such event yet
 */
export const testHook = (
  database: Database,
  { project, repository, caller }: ProjectCall<Caller>,
  { hookId, event }: { hookId: number; event: ProjectWebhookEvent },
  { baseUrl }: Call,
): Promise<WebhookDelivery> =>
  testWebhook(database, ownerOf(project), hookId, () =>
    newestEvent(database, repository, event, { project, user: caller.user, baseUrl }),
  )

/**
 * Returns the request that a webhook with these settings would send for the newest event of a kind.
 *
 * @throws DomainError invalid, by field, or when there is no such event yet
 */
export async function previewHook(
  deps: WebhookDependencies,
  { project, repository, caller }: ProjectCall<Caller>,
  {
    event,
    ...choice
  }: { event: ProjectWebhookEvent; bodyTemplate: string | null; messageFormat: string | null },
  { baseUrl }: Call,
) {
  const change = { project, user: caller.user, baseUrl }
  return previewBody(choice, await newestEvent(deps.database, repository, event, change), rulesOf(deps))
}

/**
 * Returns the newest event of a kind: the last commit of the default branch as a push or a tag, the last
 * comment, the last status, the pipeline of the last status, the last deployment and its impact, the result
 * of the newest rule for that impact, or the last release.
 */
async function newestEvent(
  database: Database,
  repository: Repository,
  event: ProjectWebhookEvent,
  change: Change,
): Promise<Omit<NewDelivery, 'webhookId'>> {
  const { project } = change
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
      const pipeline = status && (await findPipelineWithJobs(database.pool, project.id, status.pipelineId))
      if (!pipeline) throw invalid('Ensure the project has CI pipelines.')
      return pipelineHook(pipeline, { ...change, commit: await getCommit(repository, pipeline.sha) })
    }
    case 'deployment': {
      const deployment = await findNewestDeployment(database, project.id)
      if (!deployment) throw invalid('Ensure the project has deployments.')
      return deploymentHook(deployment, { ...change, commit: await getCommit(repository, deployment.sha) })
    }
    case 'deployment_impact':
    case 'impact_rule':
      return sampleImpact(database, event, change)
    case 'releases': {
      const release = await findLastAddedRelease(database, project.id)
      if (!release) throw invalid('Ensure the project has releases.')
      const commit = await findCommit(repository, tagRef(release.tag))
      return releaseHook(release, { ...change, action: 'create', commit })
    }
  }
}

/** Returns the impact of the newest deployment, and the result of the newest rule for it. */
async function sampleImpact(
  database: Database,
  event: 'deployment_impact' | 'impact_rule',
  { project, baseUrl }: Change,
) {
  const deployment = await findNewestDeployment(database, project.id)
  if (!deployment) throw invalid('Ensure the project has deployments.')
  const { findings } = await readImpact(database, project.id, deployment.id)
  const shown = { ...deployment, project }
  const dedupeKey = `test-${randomUUID()}`
  if (event === 'deployment_impact') return { ...impactDelivery(shown, findings, baseUrl), dedupeKey }
  const rule = await findNewestRule(database, project.id)
  if (!rule) throw invalid('Ensure the project has impact rules.')
  const { id, name, freezes, banner } = rule
  const run = { id: 0, rule: { id, name }, freezes, banner: banner?.message ?? null, findings }
  return { ...ruleDelivery(shown, run, baseUrl), dedupeKey }
}

async function samplePush(repository: Repository, event: 'push' | 'tag_push', change: Change) {
  const branch = defaultBranchRef(change.project)
  const commit = await findCommit(repository, branch)
  if (!commit) throw invalid('Ensure the project has at least one commit.')
  const moved =
    event === 'push'
      ? { ref: branch, before: commit.parentIds[0] ?? zeroId, after: commit.id }
      : { ref: tagRef('test'), before: zeroId, after: commit.id }
  return pushHook(moved, await pushedCommits(repository, change.project, moved), change)
}
