import {
  endpoint,
  pathCharsMax,
  type Route,
  route,
  streamed,
  text,
  unsupported,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'
import { openArchive } from '../use-cases/archive.js'
import { optionalText } from '../wire/parameters.js'

/** `GET /projects/:id/repository/archive`; the format may also be the suffix of the path. */
export function archiveRoutes(deps: Dependencies): Route[] {
  const archive = '/projects/:id/repository/archive'
  const { readCode } = deps.guards
  return [
    route('GET', archive, readCode, getArchive(deps), { longLived: true }),
    route('GET', `${archive}.:format`, readCode, getArchive(deps), { longLived: true }),
  ]
}

/** Names of formats as clients send them → the format. */
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
  sha: optionalText(text()).meta({ description: 'Branch, tag or hash; left out: the default branch' }),
  ref: optionalText(text()).meta({ description: 'The same as `sha`, which comes first' }),
  path: text(pathCharsMax).default('').meta({ description: 'Only this file or folder' }),
  include_lfs_blobs: unsupported('is not supported: an archive has the pointers of Git LFS', 'false', '0'),
  exclude_paths: unsupported('is not supported: use export-ignore in .gitattributes, or path'),
})

const types = ['application/zip', 'application/octet-stream']

const getArchive = (deps: Dependencies) =>
  endpoint({
    summary: 'An archive of a commit',
    replies: { 200: types },
    refusals: [429],
    input,
    async handle({ format: name, sha, ref, path }, access: ProjectCall, call) {
      const format = formats[name]
      const query = { revision: sha ?? ref, path, format }
      const { fileName, fingerprint, write } = await openArchive(deps, access, query, call)
      const { request, response } = call.raw
      response.set('ETag', `"${fingerprint}"`)
      if (request.fresh) response.status(304)
      else {
        response.attachment(fileName).type(format === 'zip' ? 'application/zip' : 'application/octet-stream')
        response.set('Content-Transfer-Encoding', 'binary')
        if (request.method !== 'HEAD') await write(response)
      }
      response.end()
      return streamed
    },
  })
