import type { Database, ReleaseLink } from '@switchyard/db'
import { isRefusal, notFound } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import {
  type Call,
  created,
  endpoint,
  filledText,
  ok,
  pageParameters,
  pageReply,
  parameterProblem,
  preconditionOf,
  redirect,
  rowId,
  rowsOf,
  text,
  versioned,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall } from '../../guards.js'
import type { LfsTransferDependencies } from '../../repository/lfs/lfs.js'
import { optional, pathRest } from '../../shapes/parameters.js'
import { redirectToConsole } from '../../web/web.js'
import { fileHeaders, fileTypes, sendFile } from '../stored-files/stored-files.js'
import { findOwnFile, findOwnObjects } from './own-files.js'
import {
  presentReleaseLink,
  releaseLinkParameters,
  releaseLinkShape,
  toLinkChanges,
  toLinkFields,
} from './present.js'
import * as links from './release-links.js'
import { getLatestTag } from './releases.js'

const ofRelease = { tag_name: text() }
const oneLink = { ...ofRelease, link_id: rowId() }

/** Returns links with the sizes and hashes of their files. */
async function present(
  database: Database,
  access: ProjectCall,
  { tag, links }: { tag: string; links: readonly ReleaseLink[] },
  call: Call,
): Promise<z.output<typeof releaseLinkShape>[]> {
  const urls = links.map(({ url }) => url)
  const files = await findOwnObjects(database, access, urls, call)
  return links.map((link) => presentReleaseLink(link, tag, access.project, call.baseUrl, files))
}

async function presentOne(
  database: Database,
  access: ProjectCall,
  { tag, link }: { tag: string; link: ReleaseLink },
  call: Call,
) {
  const [presented] = await present(database, access, { tag, links: [link] }, call)
  return presented as z.output<typeof releaseLinkShape>
}

export const listLinks = (database: Database) =>
  endpoint({
    summary: 'Links of a release, the newest first',
    replies: { 200: z.array(releaseLinkShape) },
    input: z.object({ ...pageParameters, ...ofRelease }),
    async handle({ tag_name, ...page }, access: ProjectCall, call) {
      const found = await links.listLinks(database, access, tag_name, rowsOf(page))
      const items = await present(database, access, { tag: tag_name, links: found.links }, call)
      return pageReply(items, page, found.total, call)
    },
  })

export const getLink = (database: Database) =>
  endpoint({
    summary: 'One link of a release',
    replies: { 200: releaseLinkShape },
    input: z.object(oneLink),
    async handle({ tag_name, link_id }, access: ProjectCall, call) {
      const link = await links.getLink(database, access, tag_name, link_id)
      return versioned(await presentOne(database, access, { tag: tag_name, link }, call), link)
    },
  })

export interface DownloadDependencies extends LfsTransferDependencies {
  database: Database
}

/** Sends a file of the project itself, and redirects to every other address. */
async function sendDownload(deps: DownloadDependencies, access: ProjectCall, url: string, call: Call) {
  const file = await findOwnFile(deps.database, access, url, call)
  if (file) return sendFile(deps, access, file, call)
  return redirect(new URL(url).href)
}

export const downloadFile = (deps: DownloadDependencies) =>
  endpoint({
    summary: 'The file of the link with this path: its bytes, or a redirect to another server',
    replies: { 200: fileTypes, 206: fileTypes, 302: null, 416: null },
    headers: { ...fileHeaders, Location: 'The address of the link, when it leads elsewhere' },
    input: z.object({ ...ofRelease, file_path: pathRest() }),
    async handle({ tag_name, file_path }, access: ProjectCall, call) {
      const url = await links.getDownloadUrl(deps.database, access, tag_name, `/${file_path}`)
      return sendDownload(deps, access, url, call)
    },
  })

export const createLink = (database: Database) =>
  endpoint({
    summary: 'Add a link to a release, or get the link when it exists already',
    replies: { 201: releaseLinkShape, 200: releaseLinkShape },
    input: z.object({ ...ofRelease, ...releaseLinkParameters }),
    async handle({ tag_name, ...given }, access: ProjectCall<Caller>, call) {
      const { link, isNew } = await links.addLink(database, access, tag_name, toLinkFields(given))
      const body = await presentOne(database, access, { tag: tag_name, link }, call)
      return isNew ? created(body) : ok(body)
    },
  })

export const updateLink = (database: Database) =>
  endpoint({
    summary: 'Change a link of a release',
    replies: { 200: releaseLinkShape },
    refusals: [412],
    input: z.object({
      ...oneLink,
      ...releaseLinkParameters,
      name: optional(filledText()),
      url: optional(filledText()),
    }),
    async handle({ tag_name, link_id, ...given }, access: ProjectCall<Caller>, call) {
      const changes = toLinkChanges(given)
      if (Object.values(changes).every((value) => value === undefined)) {
        throw parameterProblem('name, url', 'are missing, at least one parameter must be provided')
      }
      const wanted = { tag: tag_name, id: link_id, precondition: preconditionOf(call) }
      const link = await links.changeLink(database, access, wanted, changes)
      return versioned(await presentOne(database, access, { tag: tag_name, link }, call), link)
    },
  })

export const deleteLink = (database: Database) =>
  endpoint({
    summary: 'Delete a link of a release',
    replies: { 200: releaseLinkShape },
    refusals: [412],
    input: z.object(oneLink),
    async handle({ tag_name, link_id }, access: ProjectCall<Caller>, call) {
      const wanted = { tag: tag_name, id: link_id, precondition: preconditionOf(call) }
      const link = await links.removeLink(database, access, wanted)
      return ok(await presentOne(database, access, { tag: tag_name, link }, call))
    },
  })

/**
 * `GET /:namespace/:project/-/releases/*tag/downloads/*path`: the tag of a release, or `permalink/latest`.
 */
export const getReleaseDownload = (deps: DownloadDependencies) =>
  endpoint({
    input: z.object({ tag: z.array(z.string()), path: z.array(z.string()) }),
    async handle({ tag, path }, access: ProjectCall | null, call) {
      if (!access) return redirectToConsole(call, 'releases', tag)
      const url = await findDownload(deps.database, access, [...tag, 'downloads', ...path])
      return sendDownload(deps, access, url, call)
    },
  })

/** Tags and paths may contain `downloads` themselves, so several splits are tried. */
const splitsMax = 5

async function findDownload(database: Database, access: ProjectCall, parts: string[]): Promise<string> {
  const splits = parts.flatMap((part, index) => (part === 'downloads' && index > 0 ? [index] : []))
  for (const at of splits.slice(0, splitsMax)) {
    const named = parts.slice(0, at).join('/')
    const tag = named === 'permalink/latest' ? await getLatestTag(database, access) : named
    try {
      return await links.getDownloadUrl(database, access, tag, `/${parts.slice(at + 1).join('/')}`)
    } catch (error) {
      if (!isRefusal(error, 'not-found')) throw error
    }
  }
  throw notFound()
}
