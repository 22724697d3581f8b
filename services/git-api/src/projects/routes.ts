import type { ProjectOrder, Rows } from '@switchyard/db'
import { invalidParameters, notSupported } from '@switchyard/domain'
import { accessLevels, type Caller, requireScope, visibilities } from '@switchyard/domain/access'
import {
  accepted,
  auditAuthor,
  type Call,
  created,
  documented,
  endpoint,
  filledText,
  flag,
  type Guard,
  integer,
  keysetReply,
  pageParameters,
  pageReply,
  parameterProblem,
  preconditionOf,
  type Route,
  readingScopes,
  route,
  rowId,
  rowsOf,
  signedIn,
  text,
  time,
  unsupported,
  versioned,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall } from '../guards.js'
import { accessLevel, optional, optionalText, topicList } from '../shapes/parameters.js'
import { basicProjectShape, presentBasicProject, presentProject, projectShape } from '../shapes/project.js'
import {
  featureSwitches,
  readSettings,
  refusedProjectParameters,
  settingParameters,
} from '../shapes/project-settings.js'
import * as creation from './create-project.js'
import type { ProjectDependencies } from './projects.js'
import * as projects from './projects.js'

export function projectRoutes(deps: ProjectDependencies): Route[] {
  const { readProject, maintain, own } = deps.guards
  return [
    route('POST', '/projects', signedIn, createProject(deps)),
    route('GET', '/projects', anonymousOrSignedIn, listProjects(deps)),
    route('GET', '/projects/:id', readProject, getProject(deps)),
    route('PUT', '/projects/:id', maintain, updateProject(deps)),
    route('POST', '/projects/:id/archive', own, setArchived(deps, true)),
    route('POST', '/projects/:id/unarchive', own, setArchived(deps, false)),
    route('DELETE', '/projects/:id', own, deleteProject(deps)),
  ]
}

/** Everybody: an anonymous caller sees public projects. A token needs a scope for reading. */
const anonymousOrSignedIn: Guard<Caller | null> = documented({ anonymous: true }, (call) =>
  call.caller ? requireScope(call.caller, ...readingScopes(call)) : null,
)

/** `tag_list` is the older name of `topics`. */
const topicParameters = { topics: optional(topicList()), tag_list: optional(topicList()) }

/** Only administrators may set it. */
const sizeLimit = () =>
  z
    .preprocess(
      (value) => (value === '' ? null : value),
      integer().pipe(z.int().min(0).max(sizeLimitMax)).nullish(),
    )
    .meta({
      description:
        'Most bytes of repository and LFS objects; 0: no limit; null: that of the installation. Administrators only',
    })
const sizeLimitMax = 2 ** 50

/** A project is created in the caller's namespace; administrators may name another user. */
const createProject = (deps: ProjectDependencies) =>
  endpoint({
    summary: 'Create a project',
    replies: { 201: projectShape },
    refusals: [409],
    input: z.object({
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
      ...settingParameters,
      ...refusedProjectParameters,
    }),
    async handle({ name, path, description = null, visibility, ...given }, caller: Caller, call) {
      if (name === undefined && path === undefined) throw missing('name, path')
      const command = {
        ownerId: given.namespace_id,
        name,
        path,
        description,
        visibility,
        defaultBranch: given.default_branch,
        topics: given.topics ?? given.tag_list ?? [],
        lfsEnabled: given.lfs_enabled,
        repositorySizeLimit: given.repository_size_limit,
        withReadme: given.initialize_with_readme,
        settings: readSettings(given, {}) ?? {},
      }
      return created(presentProject(await creation.createProject(deps, caller, command, call), call.baseUrl))
    },
  })

const missing = (names: string) =>
  invalidParameters([`${names} are missing, at least one parameter must be provided`])

const orderColumns = {
  id: 'id',
  name: 'name',
  path: 'path',
  created_at: 'createdAt',
  updated_at: 'lastActivityAt',
  last_activity_at: 'lastActivityAt',
} as const satisfies Record<string, ProjectOrder['column']>

const nothingHas = { description: '`true`: no project, because no project has this' }

/** Whether a question asks for projects with something that no project has. */
const asksForNothing = (given: z.output<typeof listInput>): boolean =>
  given.starred ||
  given.imported ||
  given.repository_checksum_failed ||
  given.wiki_checksum_failed ||
  (given.active !== undefined && given.active === given.archived)

const listInput = z.object({
  ...pageParameters,
  membership: flag().default(false),
  owned: flag().default(false),
  starred: flag().default(false).meta(nothingHas),
  simple: flag().default(false).meta({ description: 'Only the fields that do not depend on the caller' }),
  search: text()
    .optional()
    .meta({ description: 'Part of the name, the path or the description, in upper or lower case' }),
  search_namespaces: flag().default(false).meta({ description: 'Search the full path, too' }),
  visibility: z.enum(visibilities).optional(),
  archived: optional(flag()),
  min_access_level: optional(accessLevel(...Object.values(accessLevels))),
  topic: optional(topicList()).meta({ description: 'Only projects that have all these topics' }),
  active: optional(flag()).meta({ description: '`true`: not archived, `false`: archived' }),
  imported: flag().default(false).meta(nothingHas),
  with_issues_enabled: flag()
    .default(false)
    .meta({ description: '`true`: only projects with `issues_enabled`' }),
  with_merge_requests_enabled: flag()
    .default(false)
    .meta({ description: '`true`: only projects with `merge_requests_enabled`' }),
  repository_checksum_failed: flag().default(false).meta(nothingHas),
  wiki_checksum_failed: flag().default(false).meta(nothingHas),
  with_programming_language: unsupported('is not supported: languages are not detected'),
  repository_storage: unsupported('is not supported: ask for the moves of a project'),
  topic_id: unsupported('is not supported: use topic'),
  marked_for_deletion_on: unsupported('is not supported: projects are deleted at once'),
  statistics: unsupported('is not supported in lists: ask for one project', 'false', '0'),
  id_after: optional(rowId()),
  id_before: optional(rowId()),
  last_activity_after: optional(time()),
  last_activity_before: optional(time()),
  updated_after: optional(time()),
  updated_before: optional(time()),
  order_by: z.enum(Object.keys(orderColumns) as [keyof typeof orderColumns]).default('created_at'),
  sort: z.enum(['asc', 'desc']).default('desc'),
  pagination: text().default('legacy').meta({
    description: '`keyset`, with `order_by=id`: the header `Link` has the address of the next page',
  }),
})

const listProjects = (deps: ProjectDependencies) =>
  endpoint({
    summary: 'Projects that the caller may see',
    replies: { 200: z.array(z.union([projectShape, basicProjectShape])) },
    refusals: [405],
    input: listInput,
    async handle(given, caller: Caller | null, call) {
      if (asksForNothing(given)) return pageReply([], given, 0, call)
      const order = { column: orderColumns[given.order_by], direction: given.sort }
      const isKeyset = given.pagination === 'keyset'
      if (isKeyset && given.order_by !== 'id') {
        throw notSupported('Keyset pagination is not yet available for this type of request')
      }
      // One project more than a page shows whether there is a next page.
      const rows = isKeyset ? { skip: 0, take: given.per_page + 1 } : rowsOf(given)
      const { items, total } = await presentList(deps, caller, given, { order, rows }, call)
      return isKeyset ? keysetPage(items, given, call) : pageReply(items, given, total, call)
    },
  })

async function presentList(
  deps: ProjectDependencies,
  caller: Caller | null,
  given: z.output<typeof listInput>,
  { order, rows }: { order: ProjectOrder; rows: Rows },
  call: Call,
) {
  const filter = filterOf(given)
  // As in GitLab, an anonymous caller gets the basic fields.
  if (given.simple || caller === null) {
    const found = await projects.listBasicProjects(deps.database, caller, filter, order, rows)
    return {
      items: found.projects.map((project) => presentBasicProject(project, call.baseUrl)),
      total: found.total,
    }
  }
  const found = await projects.listProjects(deps, caller, filter, order, rows, call)
  return {
    items: found.projects.map((project) => presentProject(project, call.baseUrl)),
    total: found.total,
  }
}

/** As in GitLab, the next page begins after the id of the last project. */
function keysetPage(
  found: readonly { id: number }[],
  { per_page, sort }: z.output<typeof listInput>,
  call: Call,
) {
  const items = found.slice(0, per_page)
  const next = found.length > per_page ? String(items.at(-1)?.id) : null
  return keysetReply(items, next, call, sort === 'asc' ? 'id_after' : 'id_before')
}

/** Activity is the only change of a project whose time is known, so both filters by time mean it. */
function filterOf(given: z.output<typeof listInput>) {
  return {
    membership: given.membership,
    owned: given.owned,
    search: given.search,
    searchNamespaces: given.search_namespaces,
    visibility: given.visibility,
    archived: given.archived ?? (given.active === undefined ? undefined : !given.active),
    levelMin: given.min_access_level,
    topics: given.topic,
    usedFeatures: [
      ...(given.with_issues_enabled ? [featureSwitches.issues_enabled] : []),
      ...(given.with_merge_requests_enabled ? [featureSwitches.merge_requests_enabled] : []),
    ],
    idAfter: given.id_after,
    idBefore: given.id_before,
    activeAfter: later(given.last_activity_after, given.updated_after),
    activeBefore: earlier(given.last_activity_before, given.updated_before),
  }
}

const later = (a: Date | undefined, b: Date | undefined) => (a && b ? (a > b ? a : b) : (a ?? b))
const earlier = (a: Date | undefined, b: Date | undefined) => (a && b ? (a < b ? a : b) : (a ?? b))

const getProject = (deps: ProjectDependencies) =>
  endpoint({
    summary: 'One project',
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
        settings: readSettings(given, access.project.settings),
      }
      const author = auditAuthor(access.caller, call)
      const changed = await projects.changeProject(deps, access, asked, author, preconditionOf(call))
      return versioned(presentProject(changed, call.baseUrl), changed.project)
    },
  })

const setArchived = (deps: ProjectDependencies, archived: boolean) =>
  endpoint({
    summary: archived ? 'Archive a project: it can be read but not written' : 'Take the archiving back',
    replies: { 201: projectShape },
    input: z.object({}),
    async handle(_input, access: ProjectCall<Caller>, call) {
      const author = auditAuthor(access.caller, call)
      const project = await projects.setArchived(deps, access, archived, author)
      return created(presentProject(project, call.baseUrl))
    },
  })

/** The project is gone when the answer arrives. */
const deleteProject = (deps: ProjectDependencies) =>
  endpoint({
    summary: 'Delete a project with everything in it',
    replies: { 202: z.object({ message: z.string() }) },
    input: z.object({
      full_path: optionalText(text()).meta({
        description: 'Refuses the request when the project has another path',
      }),
    }),
    async handle({ full_path }, access: ProjectCall<Caller>, call) {
      if (full_path !== undefined && full_path !== access.project.pathWithNamespace)
        throw parameterProblem('full_path', 'is not the path of the project')
      await projects.removeProject(deps, access, auditAuthor(access.caller, call))
      return accepted({ message: '202 Accepted' })
    },
  })
