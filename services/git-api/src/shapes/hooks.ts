import type { Project, ReleaseLink } from '@switchyard/db'
import { type Commit, titleOf } from '@switchyard/domain/commit'
import type { DeploymentView } from '../delivery/deployments/store.js'
import type { ReleaseWithLinks } from '../publishing/releases/store.js'
import type { CommentWithAuthor } from '../repository/comments/store.js'
import {
  type HookUser,
  hookCommit,
  hookDelivery,
  hookProject,
  hookRepository,
  hookUser,
} from './hook-parts.js'
import { sourceArchives } from './project.js'

interface AboutDeployment {
  project: Project
  /** Null when the repository no longer has the commit. */
  commit: Commit | null
  /** The user who caused the event. */
  user: HookUser
  baseUrl: string
  /** Set when the event is the last missing approval, or a rejection. Unset: the status has changed. */
  approval?: 'approved' | 'rejected'
}

const shownCharacters = 8

/** Returns the body of a `Deployment Hook`: a new deployment, a new status, or the approval to begin. */
export function deploymentHook(
  { id, status, updatedAt, environment, ref, sha, sagaId, sagaTenant, frozen }: DeploymentView,
  { project, commit, user, baseUrl, approval }: AboutDeployment,
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
    ...(approval && { approval }),
  })
}

/** Returns the body of a `Note Hook` on a commit. */
export const noteHook = (
  comment: CommentWithAuthor,
  { project, commit, user, baseUrl }: { project: Project; commit: Commit; user: HookUser; baseUrl: string },
) => {
  const shownCommit = hookCommit(commit, project, baseUrl)
  return hookDelivery('note', {
    object_kind: 'note',
    event_type: 'note',
    user: hookUser(user),
    project_id: project.id,
    project: hookProject(project, baseUrl),
    repository: hookRepository(project, baseUrl),
    object_attributes: {
      id: Number(comment.id),
      note: comment.note,
      description: comment.note,
      noteable_type: 'Commit',
      noteable_id: null,
      author_id: comment.authorId,
      created_at: comment.createdAt,
      updated_at: comment.editedAt ?? comment.createdAt,
      project_id: project.id,
      commit_id: comment.sha,
      attachment: null,
      line_code: null,
      path: comment.path,
      line: comment.line,
      line_type: comment.lineType,
      system: false,
      action: comment.editedAt === null ? 'create' : 'update',
      url: `${shownCommit.url}#note_${comment.id}`,
    },
    commit: shownCommit,
  })
}

interface AboutRelease {
  action: 'create' | 'update' | 'delete'
  project: Project
  /** Null when the tag does not lead to a commit. */
  commit: Commit | null
  baseUrl: string
}

/** Returns the body of a `Release Hook`: a release was created, changed or deleted. */
export function releaseHook(
  { id, tag, name, description, createdAt, releasedAt, links }: ReleaseWithLinks,
  { action, project, commit, baseUrl }: AboutRelease,
) {
  const shownProject = hookProject(project, baseUrl)
  const sources = sourceArchives(project, tag, baseUrl)
  return hookDelivery('releases', {
    object_kind: 'release',
    id: Number(id),
    created_at: createdAt,
    description,
    name,
    released_at: releasedAt,
    tag,
    project: shownProject,
    url: `${shownProject.web_url}/-/releases/${encodeURIComponent(tag)}`,
    action,
    assets: { count: links.length + sources.length, links: links.map(hookLink), sources },
    commit: commit && hookCommit(commit, project, baseUrl),
  })
}

const hookLink = ({ id, name, url, linkType }: ReleaseLink) => ({
  id: Number(id),
  link_type: linkType,
  name,
  url,
})
