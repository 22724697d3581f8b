import type { Project, User } from '@switchyard/db'
import { visibilities } from '@switchyard/domain/access'
import { tagRef } from '@switchyard/domain/commit'
import { link, oneOf } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectDescription, ProjectStatistics } from '../projects/projects.js'
import type { ProjectWithOwner } from '../projects/store.js'
import {
  featureSwitches,
  projectSettings,
  type SettingKind,
  settingAliases,
  shownSettings,
} from './project-settings.js'
import { accessLevelShape, presentUser, userShape } from './user.js'

export const namespaceShape = z
  .object({
    id: z.int(),
    name: z.string(),
    path: z.string(),
    kind: z.string(),
    full_path: z.string(),
    parent_id: z.null(),
    avatar_url: z.null(),
    web_url: link(),
  })
  .meta({ id: 'Namespace', description: 'The namespace of a user, which has the projects of the user' })

const projectAccessShape = z.object({ access_level: accessLevelShape, notification_level: z.int() })

const statisticsShape = z
  .object({
    commit_count: z.int().meta({ description: 'Commits of the default branch' }),
    storage_size: z.int().meta({ description: 'Total bytes' }),
    repository_size: z.int(),
    lfs_objects_size: z.int(),
    pipeline_artifacts_size: z.int().meta({ description: 'Bytes of reports of statuses' }),
    storage_size_limit: z.int().nullable().meta({
      description:
        'Maximum total bytes: the limit of the project, otherwise that of the installation; null: no limit',
    }),
  })
  .meta({ description: 'Only with `statistics=true`, for reporters' })

/** A short reference to a project in other answers. */
export const projectReferenceShape = z.object({ id: z.int(), path_with_namespace: z.string() })

export const presentProjectReference = ({
  id,
  pathWithNamespace,
}: Pick<Project, 'id' | 'pathWithNamespace'>): z.output<typeof projectReferenceShape> => ({
  id,
  path_with_namespace: pathWithNamespace,
})

export const basicProjectShape = z
  .object({
    id: z.int(),
    description: z.string().nullable(),
    name: z.string(),
    name_with_namespace: z.string(),
    path: z.string(),
    path_with_namespace: z.string(),
    created_at: z.date(),
    default_branch: z.string(),
    tag_list: z.array(z.string()),
    topics: z.array(z.string()),
    ssh_url_to_repo: z.string().meta({ description: 'Always empty: SSH is not supported' }),
    http_url_to_repo: link(),
    web_url: link(),
    readme_url: z.null(),
    forks_count: z.int(),
    avatar_url: z.null(),
    star_count: z.int(),
    last_activity_at: z.date(),
    visibility: oneOf(visibilities),
    namespace: namespaceShape,
  })
  .meta({
    id: 'BasicProject',
    description: 'A project as part of another answer, and in lists with `simple=true`',
  })

const shapeOf = (kind: SettingKind) => {
  if (kind === 'flag') return z.boolean()
  if (kind === 'count') return z.int().nullable()
  return kind === 'text' ? z.string().nullable() : oneOf(kind)
}

const settingShapes: Record<string, z.ZodType> = Object.fromEntries([
  ...Object.entries(projectSettings).map(([name, { kind }]) => [name, shapeOf(kind)]),
  ...Object.keys({ ...featureSwitches, ...settingAliases }).map((name) => [name, z.boolean()]),
])

export const projectShape = z
  .object({
    ...basicProjectShape.shape,
    _links: z.object({ self: link(), members: link() }),
    empty_repo: z.boolean(),
    archived: z.boolean(),
    owner: userShape,
    creator_id: z.int(),
    import_status: z.string(),
    lfs_enabled: z.boolean(),
    repository_object_format: oneOf(['sha1']),
    ...settingShapes,
    default_services: z.array(z.string()).meta({
      description: 'Services of deployments that name none',
    }),
    repository_size_limit: z.int().nullable().meta({
      description: 'The limit of the project in bytes; 0: no limit; null: the limit of the installation',
    }),
    shared_with_groups: z.array(z.unknown()),
    permissions: z.object({ project_access: projectAccessShape.nullable(), group_access: z.null() }),
    statistics: statisticsShape.optional(),
  })
  .meta({ id: 'Project', description: 'A project, with the settings that GitLab has' })

const presentStatistics = (statistics: ProjectStatistics): z.output<typeof statisticsShape> => ({
  commit_count: statistics.commitCount,
  storage_size: statistics.repositoryBytes + statistics.lfsObjectBytes + statistics.reportBytes,
  repository_size: statistics.repositoryBytes,
  lfs_objects_size: statistics.lfsObjectBytes,
  pipeline_artifacts_size: statistics.reportBytes,
  storage_size_limit: statistics.bytesMax,
})

/** Returns the fields of a project that do not depend on the caller. */
export function presentBasicProject(
  project: ProjectWithOwner,
  baseUrl: string,
): z.output<typeof basicProjectShape> {
  const { id, name, path, pathWithNamespace, topics, owner } = project
  const webUrl = `${baseUrl}/${pathWithNamespace}`
  return {
    id,
    description: project.description,
    name,
    name_with_namespace: `${owner.name} / ${name}`,
    path,
    path_with_namespace: pathWithNamespace,
    created_at: project.createdAt,
    default_branch: project.defaultBranch,
    tag_list: topics,
    topics,
    ssh_url_to_repo: '',
    http_url_to_repo: `${webUrl}.git`,
    web_url: webUrl,
    readme_url: null,
    forks_count: 0,
    avatar_url: null,
    star_count: 0,
    last_activity_at: project.lastActivityAt,
    visibility: project.visibility,
    namespace: presentNamespace(owner, baseUrl),
  }
}

/** Returns a project in GitLab's shape. */
export function presentProject(
  { project, level, empty, statistics }: ProjectDescription,
  baseUrl: string,
): z.output<typeof projectShape> {
  const { id, owner } = project
  const apiUrl = `${baseUrl}/api/v4/projects/${id}`
  return {
    ...presentBasicProject(project, baseUrl),
    _links: { self: apiUrl, members: `${apiUrl}/members` },
    empty_repo: empty,
    archived: project.archived,
    owner: presentUser(owner, baseUrl),
    creator_id: owner.id,
    import_status: 'none',
    lfs_enabled: project.lfsEnabled,
    repository_object_format: 'sha1',
    ...shownSettings(project.settings),
    repository_size_limit: project.repositorySizeLimit,
    default_services: project.defaultServices,
    shared_with_groups: [],
    permissions: {
      project_access: level === null ? null : { access_level: level, notification_level: 3 },
      group_access: null,
    },
    ...(statistics && { statistics: presentStatistics(statistics) }),
  }
}

/** Returns the namespace of a project, which is its owner, because there are no groups. */
export const presentNamespace = (owner: User, baseUrl: string): z.output<typeof namespaceShape> => ({
  id: owner.id,
  name: owner.name,
  path: owner.username,
  kind: 'user',
  full_path: owner.username,
  parent_id: null,
  avatar_url: null,
  web_url: `${baseUrl}/${owner.username}`,
})

/** Returns the archives of a tag, one for each format. */
export function sourceArchives({ id }: Pick<ProjectWithOwner, 'id'>, tag: string, baseUrl: string) {
  const archive = `${baseUrl}/api/v4/projects/${id}/repository/archive`
  const revision = encodeURIComponent(tagRef(tag))
  return ['zip', 'tar.gz', 'tar.bz2', 'tar'].map((format) => ({
    format,
    url: `${archive}.${format}?sha=${revision}`,
  }))
}
