import { notFound } from '@switchyard/domain'
import type { ArchiveFormat } from '@switchyard/git-storage/files'
import {
  answered,
  type Call,
  endpoint,
  pathCharsMax,
  type Route,
  route,
  text,
  unsupported,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall, ProjectGuards } from '../../guards.js'
import { optionalText } from '../../shapes/parameters.js'
import {
  kindOf,
  pageOptions,
  projectPage,
  redirectToConsole,
  refType,
  splitRevision,
  webGuard,
} from '../../web/web.js'
import type { Archive } from './archive.js'
import * as archive from './archive.js'

/** `GET /projects/:id/repository/archive`; the format may also be the suffix of the path. */
export function archiveRoutes({ guards }: { guards: ProjectGuards }): Route[] {
  const path = '/projects/:id/repository/archive'
  const { readCode } = guards
  return [
    route('GET', path, readCode, getArchive, { longLived: true }),
    route('GET', `${path}.:format`, readCode, getArchive, { longLived: true }),
    route('GET', `${projectPage}/-/archive/*rest`, webGuard(guards, 'read_code'), getArchivePage, {
      ...pageOptions,
      longLived: true,
    }),
  ]
}

/** The formats by the names that clients send. */
const formats = {
  'tar.gz': 'tar.gz',
  tgz: 'tar.gz',
  gz: 'tar.gz',
  'tar.bz2': 'tar.bz2',
  tbz: 'tar.bz2',
  tbz2: 'tar.bz2',
  tb2: 'tar.bz2',
  bz2: 'tar.bz2',
  tar: 'tar',
  zip: 'zip',
} as const
const formatNames = Object.keys(formats) as (keyof typeof formats)[]

const input = z.object({
  format: z.enum(formatNames).default('tar.gz'),
  sha: optionalText(text()).meta({ description: 'Branch, tag or hash; default: the default branch' }),
  ref: optionalText(text()).meta({ description: 'Alias of `sha`, which takes precedence' }),
  path: text(pathCharsMax).default('').meta({ description: 'Only this file or folder' }),
  include_lfs_blobs: unsupported('is not supported: an archive has the pointers of Git LFS', 'false', '0'),
  exclude_paths: unsupported('is not supported: use export-ignore in .gitattributes, or path'),
})

const types = ['application/zip', 'application/octet-stream']

const getArchive = endpoint({
  summary: 'Download an archive of a commit',
  replies: { 200: types },
  refusals: [422, 429],
  input,
  async handle({ format: name, sha, ref, path }, access: ProjectCall, call) {
    const format = formats[name]
    const query = { revision: sha ?? ref, path, format }
    return sendArchive(await archive.openArchive(access, query), format, call)
  },
})

/** Sends an archive, unless the client has it already. */
async function sendArchive(
  { fileName, fingerprint, write }: Archive,
  format: ArchiveFormat,
  { raw: { request, response } }: Call,
): Promise<typeof answered> {
  response.set('ETag', `"${fingerprint}"`)
  if (request.fresh) response.status(304)
  else {
    response.attachment(fileName).type(format === 'zip' ? 'application/zip' : 'application/octet-stream')
    response.set('Content-Transfer-Encoding', 'binary')
    if (request.method !== 'HEAD') await write(response)
  }
  response.end()
  return answered
}

/** Returns the format that a file name ends with, and the name without it; null when it ends with none. */
function archiveFormatOf(name: string): { stem: string; format: ArchiveFormat } | null {
  const ending = formatNames.find((each) => name.endsWith(`.${each}`) && name.length > each.length + 1)
  return ending === undefined ? null : { stem: name.slice(0, -ending.length - 1), format: formats[ending] }
}

/**
 * `GET /:namespace/:project/-/archive/*rest`: `main.tar.gz`, or `main/any-name.tar.gz`. The extension gives
 * the format. As in GitLab, `main/<project>-main.tar.gz` also names the archive and its folder, without the
 * hash.
 */
const getArchivePage = endpoint({
  input: z.object({ rest: z.array(z.string()), ref_type: refType(), path: text().default('') }),
  async handle({ rest: parts, ref_type, path }, access: ProjectCall | null, call) {
    if (!access) return redirectToConsole(call, 'archive', parts)
    const last = archiveFormatOf(parts.at(-1) ?? '')
    if (!last) throw notFound()
    const named = [...parts.slice(0, -1), last.stem]
    const { revision, rest } = await splitRevision(access, named, kindOf(ref_type))
    if (rest.length > 1) throw notFound()
    const stem = rest[0]
    const opened = await archive.openArchive(access, { revision, path, format: last.format, stem })
    return sendArchive(opened, last.format, call)
  },
})
