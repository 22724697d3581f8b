import type { Project } from '@switchyard/db'
import { zeroId } from '@switchyard/domain/access'
import type { Commit } from '@switchyard/domain/commit'
import type { PipelineWithJobs } from '../ci/pipelines/store.js'
import type { StatusWithAuthor } from '../ci/statuses/store.js'
import { secondsBetween, wholeSeconds } from './durations.js'
import {
  type HookUser,
  hookCommit,
  hookDelivery,
  hookProject,
  hookRepository,
  hookUser,
} from './hook-parts.js'

/** Returns the body of a `Job Hook`: a commit status with the fields of a job. */
export const jobHook = (
  status: StatusWithAuthor,
  { project, commit, user, baseUrl }: { project: Project; commit: Commit; user: HookUser; baseUrl: string },
) =>
  hookDelivery('job', {
    object_kind: 'build',
    ref: status.ref,
    tag: false,
    before_sha: commit.parentIds[0] ?? zeroId,
    sha: status.sha,
    build_id: Number(status.id),
    build_name: status.name,
    build_stage: status.stage,
    build_status: status.status,
    build_created_at: status.createdAt,
    build_started_at: status.startedAt,
    build_finished_at: status.finishedAt,
    build_duration: secondsBetween(status.startedAt, status.finishedAt),
    build_queued_duration: secondsBetween(status.createdAt, status.startedAt),
    build_allow_failure: status.allowFailure,
    build_failure_reason: 'unknown_failure',
    build_description: status.description,
    build_target_url: status.targetUrl,
    build_coverage: status.coverage,
    pipeline_id: Number(status.pipelineId),
    project_id: project.id,
    project_name: `${project.pathWithNamespace.split('/')[0]} / ${project.name}`,
    user: hookUser(user),
    commit: {
      ...hookCommit(commit, project, baseUrl),
      // As in GitLab, this is the id of the pipeline; receivers with static types refuse a text here.
      id: Number(status.pipelineId),
      name: null,
      sha: commit.id,
      author_name: commit.author.name,
      author_email: commit.author.email,
      status: status.status,
      duration: null,
      started_at: status.startedAt,
      finished_at: status.finishedAt,
    },
    repository: hookRepository(project, baseUrl),
    project: hookProject(project, baseUrl),
    runner: null,
    environment: null,
  })

/** Returns the body of a `Pipeline Hook`: all statuses of a commit and ref, as the jobs of a pipeline. */
export function pipelineHook(
  { id, ref, sha, status, createdAt, startedAt, finishedAt, jobs }: PipelineWithJobs,
  { project, commit, user, baseUrl }: { project: Project; commit: Commit; user: HookUser; baseUrl: string },
) {
  const shownCommit = hookCommit(commit, project, baseUrl)
  return hookDelivery('pipeline', {
    object_kind: 'pipeline',
    object_attributes: {
      id: Number(id),
      iid: Number(id),
      name: null,
      ref,
      tag: false,
      sha,
      before_sha: commit.parentIds[0] ?? zeroId,
      source: 'external',
      status,
      detailed_status: status === 'success' ? 'passed' : status,
      stages: [...new Set(jobs.map(({ stage }) => stage))],
      created_at: createdAt,
      finished_at: finishedAt,
      duration: wholeSeconds(startedAt, finishedAt),
      queued_duration: wholeSeconds(createdAt, startedAt),
      variables: [],
      url: shownCommit.url,
    },
    merge_request: null,
    user: hookUser(user),
    project: hookProject(project, baseUrl),
    commit: shownCommit,
    builds: jobs.map(buildOf),
  })
}

const failedStates = ['failed', 'canceled']

/**
 * Returns the body of a `Pipeline Hook` that asks to run a pipeline again. As in GitLab, failed jobs are
 * pending in it. `retry_requested` distinguishes it from a pipeline that a CI system itself has made pending.
 */
export function retryHook(pipeline: PipelineWithJobs, about: Parameters<typeof pipelineHook>[1]) {
  const again = { status: 'pending', startedAt: null, finishedAt: null }
  const jobs = pipeline.jobs.map((job) => (failedStates.includes(job.status) ? { ...job, ...again } : job))
  const { payload, ...delivery } = pipelineHook({ ...pipeline, ...again, jobs }, about)
  const body = JSON.parse(payload)
  return {
    ...delivery,
    payload: JSON.stringify({
      ...body,
      object_attributes: { ...body.object_attributes, retry_requested: true },
    }),
  }
}

const buildOf = (job: StatusWithAuthor) => ({
  id: Number(job.id),
  stage: job.stage,
  name: job.name,
  status: job.status,
  created_at: job.createdAt,
  started_at: job.startedAt,
  finished_at: job.finishedAt,
  duration: secondsBetween(job.startedAt, job.finishedAt),
  queued_duration: secondsBetween(job.createdAt, job.startedAt),
  failure_reason: job.status === 'failed' ? 'unknown_failure' : null,
  when: 'on_success',
  manual: false,
  allow_failure: job.allowFailure,
  user: job.author && {
    id: job.author.id,
    name: job.author.name,
    username: job.author.username,
    avatar_url: null,
  },
  runner: null,
  artifacts_file: { filename: null, size: null },
  environment: null,
})
