import type { Project, ReleaseLink, ReleaseWithLinks } from '@switchyard/db'
import type { Commit } from '@switchyard/domain/commit'
import { hookCommit, hookDelivery, hookProject } from './parts.js'

interface About {
  action: 'create' | 'update' | 'delete'
  project: Project
  /** Null when the tag leads to no commit. */
  commit: Commit | null
  baseUrl: string
}

const sourceFormats = ['zip', 'tar.gz', 'tar.bz2', 'tar']

/** The body of a `Release Hook`: a release was made, changed or deleted. */
export function releaseHook(
  { id, tag, name, description, createdAt, releasedAt, links }: ReleaseWithLinks,
  { action, project, commit, baseUrl }: About,
) {
  const shownProject = hookProject(project, baseUrl)
  const archive = `${baseUrl}/api/v4/projects/${project.id}/repository/archive`
  const revision = encodeURIComponent(`refs/tags/${tag}`)
  const sources = sourceFormats.map((format) => ({ format, url: `${archive}.${format}?sha=${revision}` }))
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
