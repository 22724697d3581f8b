import type {
  DatabaseOrTransaction,
  PrismaTransaction,
  Release,
  ReleaseLink,
  Rows,
  User,
} from '@switchyard/db'
import { lockRow } from '@switchyard/db/sql'
import type { ReleaseLinkFields } from '@switchyard/domain/release'

/** The columns of a release's author that answers show. */
type ReleaseAuthor = Pick<User, 'id' | 'username' | 'name' | 'state'>

/** A release with its links, the newest link first. */
export type ReleaseWithLinks = Release & { author: ReleaseAuthor | null; links: ReleaseLink[] }

type NewRelease = Pick<Release, 'projectId' | 'tag' | 'name' | 'description' | 'authorId' | 'releasedAt'> & {
  links: ReleaseLinkFields[]
}

export type ReleaseChanges = Partial<Pick<Release, 'name' | 'description' | 'releasedAt'>>

const withAuthorAndLinks = { author: true, links: { orderBy: { id: 'desc' } } } as const

export interface ReleaseQuery {
  projectId: number
  order: 'releasedAt' | 'createdAt'
  descending: boolean
  updatedBefore?: Date | undefined
  updatedAfter?: Date | undefined
}

/** Returns one page of a project's releases, and the number of all that match. */
export async function listReleases(
  { prisma }: DatabaseOrTransaction,
  { projectId, order, descending, updatedBefore, updatedAfter }: ReleaseQuery,
  rows: Rows,
): Promise<{ releases: ReleaseWithLinks[]; total: number }> {
  const where = { projectId, updatedAt: { lte: updatedBefore, gte: updatedAfter } }
  const direction = descending ? 'desc' : 'asc'
  const [releases, total] = await Promise.all([
    prisma.release.findMany({
      where,
      include: withAuthorAndLinks,
      orderBy: [{ [order]: direction }, { id: direction }],
      ...rows,
    }),
    prisma.release.count({ where }),
  ])
  return { releases, total }
}

export const findRelease = (
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  tag: string,
): Promise<ReleaseWithLinks | null> =>
  prisma.release.findUnique({ where: { projectId_tag: { projectId, tag } }, include: withAuthorAndLinks })

/** Finds the release with the latest date that is not in the future. */
export const findLatestPublishedRelease = (
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  now: Date,
): Promise<Release | null> =>
  prisma.release.findFirst({
    where: { projectId, releasedAt: { lte: now } },
    orderBy: [{ releasedAt: 'desc' }, { id: 'desc' }],
  })

/** Finds the release that was added last, whatever its date. */
export const findLastAddedRelease = (
  { prisma }: DatabaseOrTransaction,
  projectId: number,
): Promise<ReleaseWithLinks | null> =>
  prisma.release.findFirst({ where: { projectId }, orderBy: { id: 'desc' }, include: withAuthorAndLinks })

/** Finds the descriptions of releases by tag; tags without a release are left out. */
export async function findDescriptionsOfTags(
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  tags: readonly string[],
): Promise<Map<string, string | null>> {
  if (tags.length === 0) return new Map()
  const found = await prisma.release.findMany({
    where: { projectId, tag: { in: [...tags] } },
    select: { tag: true, description: true },
  })
  return new Map(found.map(({ tag, description }) => [tag, description]))
}

/**
 * Adds a release. Fails with a unique violation when the tag has a release already; see
 * `violatedUniqueIndex`.
 */
export const createRelease = (
  { prisma }: DatabaseOrTransaction,
  { projectId, links, ...release }: NewRelease,
): Promise<ReleaseWithLinks> =>
  prisma.release.create({
    data: { ...release, projectId, links: { create: links } },
    include: withAuthorAndLinks,
  })

/** @returns null when the tag has no release */
export async function updateRelease(
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  tag: string,
  changes: ReleaseChanges,
): Promise<ReleaseWithLinks | null> {
  const data = { ...changes, updatedAt: new Date() }
  const [release] = await prisma.release.updateManyAndReturn({ where: { projectId, tag }, data })
  return release ? findRelease({ prisma }, projectId, tag) : null
}

/** Lists the first `take` releases of some tags. */
export const listReleasesOfTags = (
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  tags: readonly string[],
  take: number,
): Promise<ReleaseWithLinks[]> =>
  prisma.release.findMany({
    where: { projectId, tag: { in: [...tags] } },
    include: withAuthorAndLinks,
    orderBy: { id: 'asc' },
    take,
  })

/** Deletes the releases of any number of tags with their links. @returns the tags that had a release */
export async function deleteReleases(
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  tags: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await prisma.$queryRaw<{ tag: string }[]>`
    DELETE FROM releases WHERE project_id = ${projectId} AND tag = ANY(${[...tags]}) RETURNING tag`
  return new Set(rows.map(({ tag }) => tag))
}

/** Locks a release until the transaction ends. @returns its id; null when the tag has no release */
export async function lockRelease(
  transaction: PrismaTransaction,
  projectId: number,
  tag: string,
): Promise<bigint | null> {
  const key = { project_id: projectId, tag }
  const row = await lockRow<{ id: bigint }>(transaction, 'releases', key, 'NO KEY UPDATE', 'id')
  return row?.id ?? null
}

/** Lists the links of a release, newest first. */
export const listReleaseLinks = (
  { prisma }: DatabaseOrTransaction,
  { projectId, releaseId }: Pick<ReleaseLink, 'projectId' | 'releaseId'>,
): Promise<ReleaseLink[]> =>
  prisma.releaseLink.findMany({ where: { projectId, releaseId }, orderBy: { id: 'desc' } })

export const createReleaseLink = (
  { prisma }: DatabaseOrTransaction,
  link: ReleaseLinkFields & Pick<ReleaseLink, 'projectId' | 'releaseId'>,
): Promise<ReleaseLink> => prisma.releaseLink.create({ data: link })

export const updateReleaseLink = (
  { prisma }: DatabaseOrTransaction,
  { projectId, id }: Pick<ReleaseLink, 'projectId' | 'id'>,
  fields: ReleaseLinkFields,
): Promise<ReleaseLink> =>
  prisma.releaseLink.update({
    where: { projectId_id: { projectId, id } },
    data: { ...fields, updatedAt: new Date() },
  })

export async function deleteReleaseLink(
  { prisma }: DatabaseOrTransaction,
  { projectId, id }: Pick<ReleaseLink, 'projectId' | 'id'>,
): Promise<void> {
  await prisma.releaseLink.delete({ where: { projectId_id: { projectId, id } } })
}
