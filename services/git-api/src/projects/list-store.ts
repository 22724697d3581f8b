import { type DatabaseOrTransaction, Prisma, type Rows, unendedMembership } from '@switchyard/db'
import { likeText } from '@switchyard/db/sql'
import type { Visibility } from '@switchyard/domain/access'
import type { ProjectWithOwner } from './store.js'

export interface ProjectFilter {
  /** The user who requests the list; administrators see every project. Null: an anonymous caller. */
  viewer: { id: number; admin: boolean } | null
  /** The only project that the viewer's token can access. */
  only?: number | undefined
  /** Only projects of which the viewer is a member. */
  membership: boolean
  /** Only projects of which the viewer is the owner. */
  owned: boolean
  /** Only projects of this user. */
  ownerId?: number | undefined
  /** Part of the name, the path or the description; case does not matter. */
  search?: string | undefined
  /** Whether to search the full path, too. */
  searchNamespaces?: boolean | undefined
  visibility?: Visibility | undefined
  archived?: boolean | undefined
  /** Only projects in which the viewer has at least this access level. */
  levelMin?: number | undefined
  /** Topics; a project must have all of them. */
  topics?: string[] | undefined
  /** Settings that say who uses a feature; only projects in which none of them is `disabled`. */
  usedFeatures?: string[] | undefined
  /** Exclusive bounds. */
  idAfter?: number | undefined
  idBefore?: number | undefined
  activeAfter?: Date | undefined
  activeBefore?: Date | undefined
}

export interface ProjectOrder {
  /** `similarity`: how well name and path match the search; without a search, the order is by `createdAt`. */
  column: 'id' | 'name' | 'path' | 'createdAt' | 'lastActivityAt' | 'similarity'
  direction: 'asc' | 'desc'
}

export interface ListedProject {
  project: ProjectWithOwner
  /** Access level of the viewer's membership row; null without one. */
  memberLevel: number | null
}

/** Returns one page of the projects that the viewer may see, and the number of all of them. */
export async function listProjects(
  { prisma }: DatabaseOrTransaction,
  filter: ProjectFilter,
  { column, direction }: ProjectOrder,
  rows: Rows,
): Promise<{ projects: ListedProject[]; total: number }> {
  const where = whereOf(filter)
  const find = async (within: Prisma.ProjectWhereInput, page: Rows) => {
    const found = await prisma.project.findMany({
      where: within,
      include: { owner: true, members: { where: membershipOf(filter) } },
      orderBy: [{ [column === 'similarity' ? 'createdAt' : column]: direction }, { id: direction }],
      ...page,
    })
    return found.map(({ members, ...project }) => ({ project, memberLevel: members[0]?.accessLevel ?? null }))
  }
  if (column === 'similarity' && filter.search) {
    const groups = similarGroups(filter.search).map((group) => ({ AND: [where, group] }))
    const count = (group: Prisma.ProjectWhereInput) => prisma.project.count({ where: group })
    return pageOfGroups(direction === 'desc' ? groups : groups.toReversed(), count, find, rows)
  }
  const [projects, total] = await Promise.all([find(where, rows), prisma.project.count({ where })])
  return { projects, total }
}

/**
 * Returns conditions, best match first: projects with this name, with names that begin with the text, with
 * names that contain it, all other projects.
 */
function similarGroups(search: string): Prisma.ProjectWhereInput[] {
  const text = likeText(search)
  const inName = (match: Prisma.StringFilter) => {
    const filter = { ...match, mode: 'insensitive' as const }
    return { OR: [{ name: filter }, { path: filter }] }
  }
  const steps = [inName({ equals: text }), inName({ startsWith: text }), inName({ contains: text }), {}]
  return steps.map((step, index) => ({ ...step, NOT: steps.slice(0, index) }))
}

/** Returns one page of the rows of consecutive groups, and the number of all rows. */
async function pageOfGroups<Group, Row>(
  groups: readonly Group[],
  count: (group: Group) => Promise<number>,
  find: (group: Group, rows: Rows) => Promise<Row[]>,
  { skip, take }: Rows,
): Promise<{ projects: Row[]; total: number }> {
  const projects: Row[] = []
  let total = 0
  for (const group of groups) {
    const first = Math.max(0, skip - total)
    total += await count(group)
    const left = take - projects.length
    if (left > 0 && skip < total) projects.push(...(await find(group, { skip: first, take: left })))
  }
  return { projects, total }
}

/** An id that no user has. */
const nobody = 0

const membershipOf = ({ viewer }: ProjectFilter) => ({ userId: viewer?.id ?? nobody, ...unendedMembership() })

function whereOf(filter: ProjectFilter): Prisma.ProjectWhereInput {
  const { only, membership, owned, levelMin, search } = filter
  const viewer = filter.viewer ?? { id: nobody, admin: false }
  const mine = { members: { some: membershipOf(filter) } }
  const open = { visibility: { in: filter.viewer ? ['public', 'internal'] : ['public'] } }
  const conditions: Prisma.ProjectWhereInput[] = []
  if (!viewer.admin) conditions.push({ OR: [open, { ownerId: viewer.id }, mine] })
  if (only !== undefined) conditions.push({ id: only })
  if (membership) conditions.push({ OR: [{ ownerId: viewer.id }, mine] })
  if (owned) conditions.push({ ownerId: viewer.id })
  if (filter.ownerId !== undefined) conditions.push({ ownerId: filter.ownerId })
  if (levelMin !== undefined) {
    const member = { members: { some: { ...membershipOf(filter), accessLevel: { gte: levelMin } } } }
    conditions.push({ OR: [{ ownerId: viewer.id }, member] })
  }
  if (search) {
    const part = { contains: likeText(search), mode: 'insensitive' as const }
    const path = filter.searchNamespaces ? { pathWithNamespace: part } : { path: part }
    conditions.push({ OR: [{ name: part }, path, { description: part }] })
  }
  if (filter.topics) conditions.push({ topics: { hasEvery: filter.topics } })
  for (const name of filter.usedFeatures ?? []) conditions.push(isUsed(name))
  return {
    visibility: filter.visibility,
    archived: filter.archived,
    id: { gt: filter.idAfter, lt: filter.idBefore },
    lastActivityAt: { gt: filter.activeAfter, lt: filter.activeBefore },
    AND: conditions,
  }
}

/**
 * Returns the condition that a feature is used. A setting that was never given has its default, under which
 * everybody uses the feature.
 */
const isUsed = (setting: string): Prisma.ProjectWhereInput => ({
  OR: [
    { settings: { path: [setting], equals: Prisma.DbNull } },
    { settings: { path: [setting], not: 'disabled' } },
  ],
})
