import { answered, type Call, endpoint, type Route, route, startBytes } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall } from '../../guards.js'
import {
  kindOf,
  pageOptions,
  projectPage,
  redirectToConsole,
  refType,
  splitRevision,
  webGuard,
} from '../../web/web.js'
import type { FileDependencies, RawContent } from './files.js'
import * as files from './files.js'
import { baseName } from './present.js'

export function rawPageRoutes(deps: FileDependencies): Route[] {
  const guard = webGuard(deps.guards, 'read_code')
  return [route('GET', `${projectPage}/-/raw/*rest`, guard, getRawPage(deps), pageOptions)]
}

/** Media types of raw content. Every text is `text/plain`, so that no browser runs it. */
export const rawTypes = ['text/plain', 'application/octet-stream']

/**
 * Sends the bytes of a blob, or the part of them that `Range` asks for.
 *
 * @param fileName name of the download
 */
export async function sendRaw(
  { blob, isText, write }: RawContent,
  { fileName, headers = {} }: { fileName: string; headers?: Record<string, string> },
  call: Call,
): Promise<typeof answered> {
  const { response } = call.raw
  response.set(headers)
  if (!isText) response.attachment(fileName)
  response.type(isText ? 'text/plain; charset=utf-8' : 'application/octet-stream')
  const range = startBytes(call.raw, { etag: `"${blob.id}"`, size: blob.size })
  if (range) await write(response, range)
  response.end()
  return answered
}

/**
 * `GET /:namespace/:project/-/raw/*rest`: revision and path; a pointer of Git LFS is replaced by its object.
 */
const getRawPage = (deps: FileDependencies) =>
  endpoint({
    input: z.object({ rest: z.array(z.string()), ref_type: refType() }),
    async handle({ rest: parts, ref_type }, access: ProjectCall | null, call) {
      if (!access) return redirectToConsole(call, 'raw', parts)
      const { revision, rest } = await splitRevision(access, parts, kindOf(ref_type))
      const query = { path: rest.join('/'), revision, lfs: true }
      const { file, content } = await files.openRawFile(deps, access, query, call)
      return sendRaw(content, { fileName: baseName(file.path) }, call)
    },
  })
