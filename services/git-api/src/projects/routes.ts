import { invalidParameters } from '@switchyard/domain'
import { type Caller, visibilities } from '@switchyard/domain/access'
import {
  accepted,
  administrator,
  auditAuthor,
  type Call,
  created,
  emptyAs,
  endpoint,
  filledText,
  flag,
  integer,
  parameterProblem,
  preconditionOf,
  type Route,
  route,
  rowId,
  signedIn,
  text,
  versioned,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import * as users from '../access/users/users.js'
import type { ProjectCall } from '../guards.js'
import { optional, optionalText, serviceNames, topicList } from '../shapes/parameters.js'
import { presentProject, projectShape } from '../shapes/project.js'
import { readSettings, refusedProjectParameters, settingParameters } from '../shapes/project-settings.js'
import { projectListRoutes } from './list-routes.js'
import * as projectCreation from './project-creation.js'
import type { ProjectDependencies } from './projects.js'
import * as projects from './projects.js'

export function projectRoutes(deps: ProjectDependencies): Route[] {
  const { readProject, maintain, own } = deps.guards
  return [
    route('POST', '/projects', signedIn, createProject(deps)),
    ...projectListRoutes(deps),
    route('POST', '/projects/user/:user_id', administrator, createProjectOf(deps)),
    route('GET', '/projects/:id', readProject, getProject(deps)),
    route('PUT', '/projects/:id', maintain, updateProject(deps)),
    route('POST', '/projects/:id/archive', own, setArchived(deps, true)),
    route('POST', '/projects/:id/unarchive', own, setArchived(deps, false)),
    route('DELETE', '/projects/:id', own, deleteProject(deps)),
  ]
}

/** `tag_list` is the older name of `topics`. */
const topicParameters = { topics: optional(topicList()), tag_list: optional(topicList()) }

const servicesParameter = {
  default_services: optional(serviceNames()).meta({
    description: 'The services that deployments ship which name none, as sagas and queues name them',
  }),
}

/** A parameter that only administrators may set. */
const sizeLimit = () =>
  emptyAs(null, integer().pipe(z.int().min(0).max(sizeLimitMax)).nullish()).meta({
    description:
      'Maximum bytes of repository and LFS objects; 0: no limit; null: the limit of the installation. Administrators only',
  })
const sizeLimitMax = 2 ** 50

const createInput = z.object({
  name: optional(filledText()),
  path: optional(filledText()),
  description: optional(text()),
  visibility: z.enum(visibilities).default('private'),
  default_branch: filledText().default('main'),
  initialize_with_readme: flag().default(false),
  lfs_enabled: flag().default(true),
  repository_size_limit: sizeLimit(),
  namespace_id: optional(rowId()),
  repository_object_format: z.enum(['sha1']).default('sha1'),
  ...topicParameters,
  ...servicesParameter,
  ...settingParameters,
  ...refusedProjectParameters,
})

/** Creates a project in the caller's namespace, or for administrators in the namespace of another user. */
const createProject = (deps: ProjectDependencies) =>
  endpoint({
    summary: 'Create a project',
    replies: { 201: projectShape },
    refusals: [409],
    input: createInput,
    handle: async (given, caller: Caller, call) =>
      created(await makeProject(deps, given.namespace_id, given, caller, call)),
  })

const createProjectOf = (deps: ProjectDependencies) =>
  endpoint({
    summary: 'Create a project for a user',
    replies: { 201: projectShape },
    refusals: [409],
    input: createInput.omit({ namespace_id: true }).extend({ user_id: rowId() }),
    async handle({ user_id, ...given }, caller: Caller, call) {
      const owner = await users.getUser(deps.database, user_id)
      return created(await makeProject(deps, owner.id, given, caller, call))
    },
  })

/** @param ownerId undefined: the caller */
async function makeProject(
  deps: ProjectDependencies,
  ownerId: number | undefined,
  given: Omit<z.output<typeof createInput>, 'namespace_id'>,
  caller: Caller,
  call: Call,
) {
  const { name, path, description = null, visibility } = given
  if (name === undefined && path === undefined) throw missing('name, path')
  const command = {
    ownerId,
    name,
    path,
    description,
    visibility,
    defaultBranch: given.default_branch,
    topics: given.topics ?? given.tag_list ?? [],
    defaultServices: given.default_services ?? [],
    lfsEnabled: given.lfs_enabled,
    repositorySizeLimit: given.repository_size_limit,
    withReadme: given.initialize_with_readme,
    settings: readSettings(given, {}) ?? {},
  }
  return presentProject(await projectCreation.createProject(deps, caller, command, call), call.baseUrl)
}

const missing = (names: string) =>
  invalidParameters([`${names} are missing, at least one parameter must be provided`])

const getProject = (deps: ProjectDependencies) =>
  endpoint({
    summary: 'Get a project',
    replies: { 200: projectShape },
    input: z.object({ statistics: flag().default(false) }),
    handle: async ({ statistics }, access: ProjectCall, call) => {
      const asked = { withStatistics: statistics }
      const found = await projects.getProject(deps, access, asked)
      return versioned(presentProject(found, call.baseUrl), found.project)
    },
  })

const updateProject = (deps: ProjectDependencies) =>
  endpoint({
    summary: 'Change a project',
    replies: { 200: projectShape },
    refusals: [412],
    input: z.object({
      name: optional(filledText()),
      path: optional(filledText()),
      description: text().nullish(),
      visibility: optional(z.enum(visibilities)),
      default_branch: optional(filledText()),
      lfs_enabled: optional(flag()),
      repository_size_limit: sizeLimit(),
      ...topicParameters,
      ...servicesParameter,
      ...settingParameters,
      ...refusedProjectParameters,
    }),
    async handle(given, access: ProjectCall<Caller>, call) {
      if (Object.values(given).every((value) => value === undefined)) {
        throw missing('name, path, description, visibility, default_branch, lfs_enabled, topics')
      }
      const { name, path, description, visibility, default_branch: defaultBranch } = given
      const asked = {
        name,
        path,
        description,
        visibility,
        defaultBranch,
        lfsEnabled: given.lfs_enabled,
        repositorySizeLimit: given.repository_size_limit,
        topics: given.topics ?? given.tag_list,
        defaultServices: given.default_services,
        settings: readSettings(given, access.project.settings),
      }
      const author = auditAuthor(access.caller, call)
      const changed = await projects.changeProject(deps, access, asked, author, preconditionOf(call))
      return versioned(presentProject(changed, call.baseUrl), changed.project)
    },
  })

const setArchived = (deps: ProjectDependencies, archived: boolean) =>
  endpoint({
    summary: archived ? 'Archive a project, which makes it read-only' : 'Unarchive a project',
    replies: { 201: projectShape },
    input: z.object({}),
    async handle(_input, access: ProjectCall<Caller>, call) {
      const author = auditAuthor(access.caller, call)
      const project = await projects.setArchived(deps, access, archived, author)
      return created(presentProject(project, call.baseUrl))
    },
  })

/** Deletes a project before it answers. */
const deleteProject = (deps: ProjectDependencies) =>
  endpoint({
    summary: 'Delete a project and everything in it',
    replies: { 202: z.object({ message: z.string() }) },
    refusals: [412],
    input: z.object({
      full_path: optionalText(text()).meta({
        description: 'Refuses the request when the project has another path',
      }),
    }),
    async handle({ full_path }, access: ProjectCall<Caller>, call) {
      if (full_path !== undefined && full_path !== access.project.pathWithNamespace)
        throw parameterProblem('full_path', 'is not the path of the project')
      await projects.removeProject(deps, access, auditAuthor(access.caller, call), preconditionOf(call))
      return accepted({ message: '202 Accepted' })
    },
  })
