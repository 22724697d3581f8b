import type { ProjectWithOwner, User } from '@switchyard/db'
import { presentUser } from './user.js'

export interface ProjectView {
  /** The caller's own level in the project; null when they are no member. */
  level: number | null
  empty: boolean
  baseUrl: string
}

/** A project in GitLab's shape; features Switchyard does not have are shown as switched off. */
export function presentProject(project: ProjectWithOwner, { level, empty, baseUrl }: ProjectView) {
  const { id, name, path, pathWithNamespace, owner } = project
  const webUrl = `${baseUrl}/${pathWithNamespace}`
  const apiUrl = `${baseUrl}/api/v4/projects/${id}`
  return {
    id,
    description: project.description,
    name,
    name_with_namespace: `${owner.name} / ${name}`,
    path,
    path_with_namespace: pathWithNamespace,
    created_at: project.createdAt,
    default_branch: project.defaultBranch,
    tag_list: [],
    topics: [],
    ssh_url_to_repo: null,
    http_url_to_repo: `${webUrl}.git`,
    web_url: webUrl,
    readme_url: null,
    forks_count: 0,
    avatar_url: null,
    star_count: 0,
    last_activity_at: project.lastActivityAt,
    visibility: project.visibility,
    namespace: presentNamespace(owner, baseUrl),
    _links: { self: apiUrl, members: `${apiUrl}/members` },
    empty_repo: empty,
    archived: false,
    owner: presentUser(owner, baseUrl),
    creator_id: owner.id,
    import_status: 'none',
    issues_enabled: false,
    merge_requests_enabled: false,
    wiki_enabled: false,
    jobs_enabled: false,
    snippets_enabled: false,
    lfs_enabled: false,
    shared_runners_enabled: false,
    shared_with_groups: [],
    permissions: {
      project_access: level === null ? null : { access_level: level, notification_level: 3 },
      group_access: null,
    },
  }
}

/** Every project stands below its owner; there are no groups. */
const presentNamespace = (owner: User, baseUrl: string) => ({
  id: owner.id,
  name: owner.name,
  path: owner.username,
  kind: 'user',
  full_path: owner.username,
  parent_id: null,
  avatar_url: null,
  web_url: `${baseUrl}/${owner.username}`,
})
