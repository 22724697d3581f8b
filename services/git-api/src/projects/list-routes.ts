import type { Rows } from '@switchyard/db'
import { notFound, notSupported } from '@switchyard/domain'
import { accessLevels, type Caller, requireScope, visibilities } from '@switchyard/domain/access'
import {
  type Call,
  documented,
  endpoint,
  flag,
  type Guard,
  keysetReply,
  pageParameters,
  pageReply,
  type Reply,
  type Route,
  readingScopes,
  route,
  rowId,
  rowsOf,
  text,
  time,
  unsupported,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import * as users from '../access/users/users.js'
import { accessLevel, optional, topicList } from '../shapes/parameters.js'
import { basicProjectShape, presentBasicProject, presentProject, projectShape } from '../shapes/project.js'
import { featureSwitches } from '../shapes/project-settings.js'
import type { ProjectFilter, ProjectOrder } from './list-store.js'
import type { ProjectDependencies } from './projects.js'
import * as projects from './projects.js'

export const projectListRoutes = (deps: ProjectDependencies): Route[] => [
  route('GET', '/projects', anonymousOrSignedIn, listProjects(deps)),
  route('GET', '/users/:id/projects', anonymousOrSignedIn, listProjectsOf(deps)),
]

/** Guard for everybody: anonymous callers see public projects. A token needs a scope for reading. */
const anonymousOrSignedIn: Guard<Caller | null> = documented({ anonymous: true }, (call) =>
  call.caller ? requireScope(call.caller, ...readingScopes(call)) : null,
)

const orderColumns = {
  id: 'id',
  name: 'name',
  path: 'path',
  created_at: 'createdAt',
  updated_at: 'lastActivityAt',
  last_activity_at: 'lastActivityAt',
  similarity: 'similarity',
  // No project has stars, so the order by stars is the order by id.
  star_count: 'id',
} as const satisfies Record<string, ProjectOrder['column']>

const nothingHas = { description: '`true`: no project, because no project has this' }

/** Returns whether a request filters by a feature that no project has. */
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
  simple: flag()
    .default(false)
    .meta({ description: 'Return only the fields that do not depend on the caller' }),
  search: text()
    .optional()
    .meta({ description: 'Part of the name, the path or the description, case-insensitive' }),
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
  order_by: z
    .enum(Object.keys(orderColumns) as [keyof typeof orderColumns])
    .default('created_at')
    .meta({ description: '`similarity` to `search` in name and path; without it, as `created_at`' }),
  sort: z.enum(['asc', 'desc']).default('desc'),
  pagination: text().default('legacy').meta({
    description: '`keyset`, with `order_by=id`: the header `Link` has the address of the next page',
  }),
})

const listProjects = (deps: ProjectDependencies) =>
  endpoint({
    summary: 'List the projects that the caller may see',
    replies: { 200: z.array(z.union([projectShape, basicProjectShape])) },
    refusals: [405],
    input: listInput,
    handle: (given, caller: Caller | null, call) => replyWithList(deps, caller, given, filterOf(given), call),
  })

const listProjectsOf = (deps: ProjectDependencies) =>
  endpoint({
    summary: 'List the projects of a user that the caller may see',
    replies: { 200: z.array(z.union([projectShape, basicProjectShape])) },
    refusals: [405],
    input: listInput.extend({ id: text().meta({ description: 'Id, or username' }) }),
    async handle({ id, ...given }, caller: Caller | null, call) {
      const owner = await users.findUserNamed(deps.database, id)
      if (!owner) throw notFound('User')
      return replyWithList(deps, caller, given, { ...filterOf(given), ownerId: owner.id }, call)
    },
  })

type ListFilter = Omit<ProjectFilter, 'viewer' | 'only'>

async function replyWithList(
  deps: ProjectDependencies,
  caller: Caller | null,
  given: z.output<typeof listInput>,
  filter: ListFilter,
  call: Call,
): Promise<Reply> {
  if (asksForNothing(given)) return pageReply([], given, 0, call)
  const order = { column: orderColumns[given.order_by], direction: given.sort }
  const isKeyset = given.pagination === 'keyset'
  if (isKeyset && given.order_by !== 'id') {
    throw notSupported('Keyset pagination is not yet available for this type of request')
  }
  // Reads one project more than the page has, to know whether there is a next page.
  const rows = isKeyset ? { skip: 0, take: given.per_page + 1 } : rowsOf(given)
  const { items, total } = await presentList(deps, caller, given.simple, { filter, order, rows }, call)
  return isKeyset ? keysetPage(items, given, call) : pageReply(items, given, total, call)
}

async function presentList(
  deps: ProjectDependencies,
  caller: Caller | null,
  simple: boolean,
  { filter, order, rows }: { filter: ListFilter; order: ProjectOrder; rows: Rows },
  call: Call,
) {
  // As in GitLab, an anonymous caller receives only the basic fields.
  if (simple || caller === null) {
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

/**
 * Returns a page of keyset pagination. As in GitLab, the next page begins after the id of the last project.
 */
function keysetPage(
  found: readonly { id: number }[],
  { per_page, sort }: z.output<typeof listInput>,
  call: Call,
) {
  const items = found.slice(0, per_page)
  const next = found.length > per_page ? String(items.at(-1)?.id) : null
  return keysetReply(items, next, call, sort === 'asc' ? 'id_after' : 'id_before')
}

/**
 * Returns the filter. Only activity has a time among the changes of a project, so both filters by time use
 * it.
 */
function filterOf(given: z.output<typeof listInput>): ListFilter {
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
