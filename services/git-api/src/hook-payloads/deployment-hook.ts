import type { DeploymentView, Project } from '@switchyard/db'
import { type Commit, titleOf } from '@switchyard/domain/commit'
import { type HookUser, hookDelivery, hookProject, hookUser } from './parts.js'

interface About {
  project: Project
  /** Null when the repository has lost it. */
  commit: Commit | null
  /** Who caused the event. */
  user: HookUser
  baseUrl: string
}

const shownCharacters = 8

/** The body of a `Deployment Hook`: a new deployment, or its new status. */
export function deploymentHook(
  { id, status, updatedAt, environment, ref, sha, sagaId, sagaTenant, frozen }: DeploymentView,
  { project, commit, user, baseUrl }: About,
) {
  const shownProject = hookProject(project, baseUrl)
  return hookDelivery('deployment', {
    object_kind: 'deployment',
    status,
    status_changed_at: updatedAt,
    deployment_id: id,
    deployable_id: null,
    deployable_url: null,
    environment: environment.name,
    environment_tier: environment.tier,
    environment_slug: environment.slug,
    environment_external_url: environment.externalUrl,
    project: shownProject,
    ref,
    short_sha: sha.slice(0, shownCharacters),
    user: hookUser(user),
    user_url: `${baseUrl}/${user.username}`,
    commit_url: `${shownProject.web_url}/-/commit/${sha}`,
    commit_title: commit && titleOf(commit.message),
    frozen,
    saga_id: sagaId,
    saga_tenant: sagaTenant,
  })
}
