import type { Project } from '@switchyard/db'
import { zeroId } from '@switchyard/domain/access'
import { z } from 'zod'
import type { JobView, PipelineView } from '../ci/pipelines/pipelines.js'
import type { PipelineWithAuthor } from '../ci/pipelines/store.js'
import type { StatusWithAuthor } from '../ci/statuses/store.js'
import { commitShape, pipelineBasicShape, presentCommit, presentPipelineBasic } from './commit.js'
import { secondsBetween, wholeSeconds } from './durations.js'
import { presentUser, userShape } from './user.js'

/** GitLab's states of pipelines and jobs; states that no status can have find nothing. */
export const pipelineStates = [
  'created',
  'waiting_for_resource',
  'preparing',
  'pending',
  'running',
  'success',
  'failed',
  'canceling',
  'canceled',
  'skipped',
  'manual',
  'scheduled',
] as const

export const listedPipelineShape = pipelineBasicShape
  .extend({ name: z.null() })
  .meta({ id: 'ListedPipeline', description: 'A pipeline in a list' })

const detailedStatusShape = z.object({
  icon: z.string(),
  text: z.string(),
  label: z.string(),
  group: z.string(),
  tooltip: z.string(),
  has_details: z.boolean(),
  details_path: z.string(),
  illustration: z.null(),
  favicon: z.null(),
})

export const pipelineShape = pipelineBasicShape
  .extend({
    name: z.null(),
    before_sha: z.string(),
    tag: z.boolean(),
    yaml_errors: z.null(),
    user: userShape.nullable(),
    started_at: z.date().nullable(),
    finished_at: z.date().nullable(),
    committed_at: z.null(),
    duration: z.int().nullable(),
    queued_duration: z.int().nullable(),
    coverage: z.number().nullable(),
    detailed_status: detailedStatusShape,
    archived: z.boolean(),
  })
  .meta({ id: 'Pipeline', description: 'One pipeline' })

export const jobShape = z
  .object({
    id: z.int(),
    status: z.string(),
    stage: z.string(),
    name: z.string(),
    ref: z.string().nullable(),
    tag: z.boolean(),
    coverage: z.number().nullable(),
    allow_failure: z.boolean(),
    created_at: z.date(),
    started_at: z.date().nullable(),
    finished_at: z.date().nullable(),
    erased_at: z.null(),
    duration: z.number().nullable(),
    queued_duration: z.number().nullable(),
    user: userShape.nullable(),
    commit: commitShape.nullable(),
    pipeline: pipelineBasicShape,
    failure_reason: z.string().optional(),
    web_url: z.string().meta({ description: 'The target URL of the status' }),
    project: z.object({ ci_job_token_scope_enabled: z.boolean() }),
    artifacts: z.array(z.unknown()),
    runner: z.null(),
    runner_manager: z.null(),
    artifacts_expire_at: z.null(),
    archived: z.boolean(),
    tag_list: z.array(z.string()),
  })
  .meta({ id: 'Job', description: 'A commit status in the form of a job' })

export const presentListedPipeline = (
  pipeline: PipelineWithAuthor,
  project: Project,
  baseUrl: string,
): z.output<typeof listedPipelineShape> => ({
  ...presentPipelineBasic(pipeline, project, baseUrl),
  name: null,
})

/** Returns a pipeline in GitLab's shape. */
export function presentPipeline(
  { pipeline, isTag }: PipelineView,
  project: Project,
  baseUrl: string,
): z.output<typeof pipelineShape> {
  const { status, createdAt, startedAt, finishedAt, coverage, author } = pipeline
  const label = status === 'success' ? 'passed' : status
  return {
    ...presentListedPipeline(pipeline, project, baseUrl),
    before_sha: zeroId,
    tag: isTag,
    yaml_errors: null,
    user: author && presentUser(author, baseUrl),
    started_at: startedAt,
    finished_at: finishedAt,
    committed_at: null,
    duration: wholeSeconds(startedAt, finishedAt),
    queued_duration: wholeSeconds(createdAt, startedAt),
    coverage: coverage === null ? null : Math.round(coverage * 100) / 100,
    detailed_status: {
      icon: `status_${status}`,
      text: `${label.charAt(0).toUpperCase()}${label.slice(1)}`,
      label,
      group: status,
      tooltip: label,
      has_details: false,
      details_path: `/${project.pathWithNamespace}/-/pipelines/${pipeline.id}`,
      illustration: null,
      favicon: null,
    },
    archived: false,
  }
}

/** Returns a status as a job in GitLab's shape. */
export function presentJob(
  job: StatusWithAuthor,
  { pipeline, isTag, commit }: JobView,
  project: Project,
  baseUrl: string,
): z.output<typeof jobShape> {
  const shownPipeline = presentPipelineBasic(pipeline, project, baseUrl)
  return {
    id: Number(job.id),
    status: job.status,
    stage: job.stage,
    name: job.name,
    ref: job.ref,
    tag: isTag,
    coverage: job.coverage,
    allow_failure: job.allowFailure,
    created_at: job.createdAt,
    started_at: job.startedAt,
    finished_at: job.finishedAt,
    erased_at: null,
    duration: secondsBetween(job.startedAt, job.finishedAt),
    queued_duration: secondsBetween(job.createdAt, job.startedAt),
    user: job.author && presentUser(job.author, baseUrl),
    commit: commit && presentCommit(commit, project, baseUrl),
    pipeline: shownPipeline,
    ...(job.status === 'failed' && { failure_reason: 'unknown_failure' }),
    web_url: job.targetUrl ?? shownPipeline.web_url,
    project: { ci_job_token_scope_enabled: false },
    artifacts: [],
    runner: null,
    runner_manager: null,
    artifacts_expire_at: null,
    archived: false,
    tag_list: [],
  }
}
