import type { Database, ReleaseLink } from '@switchyard/db'
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
  type Route,
  redirect,
  route,
  rowId,
  rowsOf,
  text,
  versioned,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall, ProjectResourceDependencies } from '../../guards.js'
import type { FileTransfers } from '../../repository/lfs/lfs.js'
import { optional, pathRest } from '../../shapes/parameters.js'
import { pageOptions, projectPage, redirectToConsole, webGuard } from '../../web/web.js'
import { fileHeaders, fileTypes, sendFile } from '../stored-files/stored-files.js'
import * as ownFiles from './own-files.js'
import {
  presentReleaseLink,
  releaseLinkParameters,
  releaseLinkShape,
  toLinkChanges,
  toLinkFields,
} from './present.js'
import type { Download } from './release-links.js'
import * as releaseLinks from './release-links.js'

export type ReleaseLinkDependencies = ProjectResourceDependencies & FileTransfers

export function releaseLinkRoutes(deps: ReleaseLinkDependencies): Route[] {
  const { readProject, pushCode } = deps.guards
  const release = '/projects/:id/releases/:tag_name'
  const links = `${release}/assets/links`
  return [
    route('GET', `${release}/downloads/*file_path`, readProject, downloadFile(deps), { longLived: true }),
    route('GET', links, readProject, listLinks(deps.database)),
    route('POST', links, pushCode, createLink(deps.database)),
    route('GET', `${links}/:link_id`, readProject, getLink(deps.database)),
    route('PUT', `${links}/:link_id`, pushCode, updateLink(deps.database)),
    route('DELETE', `${links}/:link_id`, pushCode, deleteLink(deps.database)),
    route(
      'GET',
      `${projectPage}/-/releases/*tag/downloads/*path`,
      webGuard(deps.guards, 'read_project'),
      getReleaseDownload(deps),
      { ...pageOptions, longLived: true },
    ),
  ]
}

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
  const files = await ownFiles.findOwnObjects(database, access, urls, call)
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

const listLinks = (database: Database) =>
  endpoint({
    summary: 'List the links of a release, newest first',
    replies: { 200: z.array(releaseLinkShape) },
    input: z.object({ ...pageParameters, ...ofRelease }),
    async handle({ tag_name, ...page }, access: ProjectCall, call) {
      const found = await releaseLinks.listLinks(database, access, tag_name, rowsOf(page))
      const items = await present(database, access, { tag: tag_name, links: found.links }, call)
      return pageReply(items, page, found.total, call)
    },
  })

const getLink = (database: Database) =>
  endpoint({
    summary: 'Get a link of a release',
    replies: { 200: releaseLinkShape },
    input: z.object(oneLink),
    async handle({ tag_name, link_id }, access: ProjectCall, call) {
      const link = await releaseLinks.getLink(database, access, tag_name, link_id)
      return versioned(await presentOne(database, access, { tag: tag_name, link }, call), link)
    },
  })

/** Sends a file of the project itself, and redirects to every other address. */
const sendDownload = (deps: FileTransfers, access: ProjectCall, download: Download, call: Call) =>
  'file' in download ? sendFile(deps, access, download.file, call) : redirect(new URL(download.url).href)

const downloadFile = (deps: ReleaseLinkDependencies) =>
  endpoint({
    summary: 'Download the file of a release link by its path, or redirect to another server',
    replies: { 200: fileTypes, 206: fileTypes, 302: null, 416: null },
    headers: { ...fileHeaders, Location: 'The URL of the link, when it is on another server' },
    input: z.object({ ...ofRelease, file_path: pathRest() }),
    async handle({ tag_name, file_path }, access: ProjectCall, call) {
      const wanted = { tag: tag_name, filePath: `/${file_path}` }
      const download = await releaseLinks.getDownload(deps.database, access, wanted, call)
      return sendDownload(deps, access, download, call)
    },
  })

const createLink = (database: Database) =>
  endpoint({
    summary: 'Add a link to a release, or get the link if it exists',
    replies: { 201: releaseLinkShape, 200: releaseLinkShape },
    input: z.object({ ...ofRelease, ...releaseLinkParameters }),
    async handle({ tag_name, ...given }, access: ProjectCall<Caller>, call) {
      const { link, isNew } = await releaseLinks.addLink(database, access, tag_name, toLinkFields(given))
      const body = await presentOne(database, access, { tag: tag_name, link }, call)
      return isNew ? created(body) : ok(body)
    },
  })

const updateLink = (database: Database) =>
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
      const link = await releaseLinks.changeLink(database, access, wanted, changes)
      return versioned(await presentOne(database, access, { tag: tag_name, link }, call), link)
    },
  })

const deleteLink = (database: Database) =>
  endpoint({
    summary: 'Delete a link of a release',
    replies: { 200: releaseLinkShape },
    refusals: [412],
    input: z.object(oneLink),
    async handle({ tag_name, link_id }, access: ProjectCall<Caller>, call) {
      const wanted = { tag: tag_name, id: link_id, precondition: preconditionOf(call) }
      const link = await releaseLinks.removeLink(database, access, wanted)
      return ok(await presentOne(database, access, { tag: tag_name, link }, call))
    },
  })

/**
 * `GET /:namespace/:project/-/releases/*tag/downloads/*path`: the tag of a release, or `permalink/latest`.
 */
const getReleaseDownload = (deps: ReleaseLinkDependencies) =>
  endpoint({
    input: z.object({ tag: z.array(z.string()), path: z.array(z.string()) }),
    async handle({ tag, path }, access: ProjectCall | null, call) {
      if (!access) return redirectToConsole(call, 'releases', tag)
      const parts = [...tag, 'downloads', ...path]
      const download = await releaseLinks.getDownloadOfAddress(deps.database, access, parts, call)
      return sendDownload(deps, access, download, call)
    },
  })
