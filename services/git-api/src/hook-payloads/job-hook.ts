import type { Project, StatusWithAuthor } from '@switchyard/db'
import { zeroId } from '@switchyard/domain/access'
import type { Commit } from '@switchyard/domain/commit'
import {
  type HookUser,
  hookCommit,
  hookDelivery,
  hookProject,
  hookRepository,
  hookUser,
  secondsBetween,
} from './parts.js'

/** The body of a `Job Hook`: a commit status under the names of a job. */
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
      // As in GitLab, this is the id of the pipeline: typed receivers refuse a text here.
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
