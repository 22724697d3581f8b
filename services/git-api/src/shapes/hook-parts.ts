import { randomUUID } from 'node:crypto'
import type { Project } from '@switchyard/db'
import { type Commit, signatureTime, titleOf } from '@switchyard/domain/commit'
import { tracing } from '@switchyard/service-kit/observability'
import type { NewDelivery, ProjectWebhookEvent } from '@switchyard/webhooks'
import { shownSettings } from './project-settings.js'

/** The values of the header `X-Gitlab-Event`, by which receivers recognize an event. */
const gitlabNames: Record<ProjectWebhookEvent, string> = {
  push: 'Push Hook',
  tag_push: 'Tag Push Hook',
  note: 'Note Hook',
  job: 'Job Hook',
  pipeline: 'Pipeline Hook',
  deployment: 'Deployment Hook',
  deployment_impact: 'Deployment Impact Hook',
  impact_rule: 'Impact Rule Hook',
  releases: 'Release Hook',
}

/** Makes a delivery of an event to the webhooks of a project. */
export const hookDelivery = (event: ProjectWebhookEvent, body: object): Omit<NewDelivery, 'webhookId'> => ({
  event,
  dedupeKey: `${event}-${randomUUID()}`,
  payload: JSON.stringify(body),
  requestHeaders: { 'X-Gitlab-Event': gitlabNames[event], ...tracing()?.headers() },
})

/** The fields of a user that webhooks show. */
export interface HookUser {
  id: number
  name: string
  username: string
  email: string
}

export const hookUser = ({ id, name, username, email }: HookUser) => ({
  id,
  name,
  username,
  avatar_url: null,
  email,
})

const visibilityLevels: Record<string, number> = { private: 0, internal: 10, public: 20 }

export function hookProject(project: Project, baseUrl: string) {
  const webUrl = `${baseUrl}/${project.pathWithNamespace}`
  return {
    id: project.id,
    name: project.name,
    description: project.description,
    web_url: webUrl,
    avatar_url: null,
    // There is no SSH. Receivers require a text here, and do not build when it is null.
    git_ssh_url: '',
    git_http_url: `${webUrl}.git`,
    namespace: project.pathWithNamespace.split('/')[0],
    visibility_level: visibilityLevels[project.visibility],
    path_with_namespace: project.pathWithNamespace,
    default_branch: project.defaultBranch,
    ci_config_path: shownSettings(project.settings).ci_config_path,
    homepage: webUrl,
    url: `${webUrl}.git`,
    ssh_url: '',
    http_url: `${webUrl}.git`,
  }
}

export function hookRepository(project: Project, baseUrl: string) {
  const { name, description, homepage, git_http_url, git_ssh_url, visibility_level, url } = hookProject(
    project,
    baseUrl,
  )
  return { name, url, description, homepage, git_http_url, git_ssh_url, visibility_level }
}

export const hookCommit = ({ id, message, author }: Commit, project: Project, baseUrl: string) => ({
  id,
  message,
  title: titleOf(message),
  timestamp: signatureTime(author),
  url: `${baseUrl}/${project.pathWithNamespace}/-/commit/${id}`,
  author: { name: author.name, email: author.email },
})
