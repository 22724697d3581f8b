import {
  type Database,
  inTransaction,
  type PrismaTransaction,
  type ReleaseLink,
  type Rows,
} from '@switchyard/db'
import { invalid, isRefusal, notFound, type Precondition } from '@switchyard/domain'
import { type ReleaseLinkFields, releaseLinksMax, validateLink } from '@switchyard/domain/release'
import type { Call } from '@switchyard/service-kit/http'
import type { ProjectCall } from '../../guards.js'
import { findOwnFile, type OwnFile } from './own-files.js'
import { getLatestTag, getStoredRelease, requireTagRight } from './releases.js'
import {
  createReleaseLink,
  deleteReleaseLink,
  listReleaseLinks,
  lockRelease,
  updateReleaseLink,
} from './store.js'

/** Lists the links of a release, newest first. @throws DomainError not-found */
export async function listLinks(
  database: Database,
  access: ProjectCall,
  tag: string,
  { skip, take }: Rows,
): Promise<{ links: ReleaseLink[]; total: number }> {
  const { links } = await getStoredRelease(database, access, tag)
  return { links: links.slice(skip, skip + take), total: links.length }
}

/** @throws DomainError not-found */
export async function getLink(
  database: Database,
  access: ProjectCall,
  tag: string,
  id: number,
): Promise<ReleaseLink> {
  return oneOf((await getStoredRelease(database, access, tag)).links, id)
}

/** What a path of a release leads to: a file of the project itself, or the address of a link. */
export type Download = { file: OwnFile } | { url: string }

/** @throws DomainError not-found */
export const getDownload = async (
  database: Database,
  access: ProjectCall,
  { tag, filePath }: { tag: string; filePath: string },
  call: Call,
): Promise<Download> => downloadOf(database, access, await getUrl(database, access, tag, filePath), call)

/**
 * Finds the download of a web address: the tag of a release or `permalink/latest`, then `downloads` and a
 * path.
 *
 * @throws DomainError not-found
 */
export const getDownloadOfAddress = async (
  database: Database,
  access: ProjectCall,
  parts: readonly string[],
  call: Call,
): Promise<Download> => downloadOf(database, access, await getUrlOfAddress(database, access, parts), call)

async function downloadOf(
  database: Database,
  access: ProjectCall,
  url: string,
  call: Call,
): Promise<Download> {
  const file = await findOwnFile(database, access, url, call)
  return file ? { file } : { url }
}

/** Returns the address to which a path of a release leads. @throws DomainError not-found */
async function getUrl(database: Database, access: ProjectCall, tag: string, filePath: string) {
  const { links } = await getStoredRelease(database, access, tag)
  const link = links.find((each) => each.filePath === filePath)
  if (!link) throw notFound()
  return link.url
}

/** Tags and paths may hold the word `downloads` themselves. */
const splitsMax = 5

async function getUrlOfAddress(
  database: Database,
  access: ProjectCall,
  parts: readonly string[],
): Promise<string> {
  const splits = parts.flatMap((part, index) => (part === 'downloads' && index > 0 ? [index] : []))
  for (const at of splits.slice(0, splitsMax)) {
    const named = parts.slice(0, at).join('/')
    const tag = named === 'permalink/latest' ? await getLatestTag(database, access) : named
    try {
      return await getUrl(database, access, tag, `/${parts.slice(at + 1).join('/')}`)
    } catch (error) {
      if (!isRefusal(error, 'not-found')) throw error
    }
  }
  throw notFound()
}

/**
 * Adds a link. A repeated request with the same name and address changes nothing, so that clients may try
 * again.
 *
 * @returns the link, and whether it is new
 * @throws DomainError forbidden; not-found; invalid for wrong fields, and when the release has as many links
 *   as are allowed
 */
export async function addLink(
  database: Database,
  access: ProjectCall,
  tag: string,
  fields: ReleaseLinkFields,
): Promise<{ link: ReleaseLink; isNew: boolean }> {
  return withLinks(database, access, tag, async (transaction, links, release) => {
    const known = links.find(({ name, url }) => name === fields.name && url === fields.url)
    if (known) return { link: known, isNew: false }
    validateLink(fields, links)
    if (links.length >= releaseLinksMax) throw invalid(`A release can have ${releaseLinksMax} links at most`)
    return { link: await createReleaseLink(transaction, { ...release, ...fields }), isNew: true }
  })
}

/**
 * @param changes undefined fields stay
 *
 * @throws DomainError forbidden; not-found; precondition-failed; invalid for wrong fields
 */
export async function changeLink(
  database: Database,
  access: ProjectCall,
  { tag, id, precondition }: { tag: string; id: number; precondition: Precondition | undefined },
  changes: Partial<ReleaseLinkFields>,
): Promise<ReleaseLink> {
  return withLinks(database, access, tag, async (transaction, links) => {
    const link = oneOf(links, id)
    precondition?.(link.updatedAt)
    const fields = {
      name: changes.name ?? link.name,
      url: changes.url ?? link.url,
      filePath: changes.filePath ?? link.filePath,
      linkType: changes.linkType ?? link.linkType,
    }
    const others = links.filter((other) => other !== link)
    validateLink(fields, others)
    return updateReleaseLink(transaction, link, fields)
  })
}

/** @throws DomainError forbidden; not-found; precondition-failed */
export async function removeLink(
  database: Database,
  access: ProjectCall,
  { tag, id, precondition }: { tag: string; id: number; precondition: Precondition | undefined },
): Promise<ReleaseLink> {
  return withLinks(database, access, tag, async (transaction, links) => {
    const link = oneOf(links, id)
    precondition?.(link.updatedAt)
    await deleteReleaseLink(transaction, link)
    return link
  })
}

/**
 * Changes the links of a release; concurrent changes run one after the other.
 *
 * @throws DomainError forbidden; not-found
 */
async function withLinks<Result>(
  database: Database,
  access: ProjectCall,
  tag: string,
  work: (
    transaction: PrismaTransaction,
    links: ReleaseLink[],
    release: Pick<ReleaseLink, 'projectId' | 'releaseId'>,
  ) => Promise<Result>,
): Promise<Result> {
  await requireTagRight(database, access, tag)
  return inTransaction(database, async (transaction) => {
    const projectId = access.project.id
    const releaseId = await lockRelease(transaction, projectId, tag)
    if (releaseId === null) throw notFound('Release')
    const release = { projectId, releaseId }
    return work(transaction, await listReleaseLinks(transaction, release), release)
  })
}

function oneOf(links: readonly ReleaseLink[], id: number): ReleaseLink {
  const link = links.find((each) => each.id === BigInt(id))
  if (!link) throw notFound()
  return link
}
