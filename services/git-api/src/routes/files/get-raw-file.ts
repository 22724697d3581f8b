import { isUtf8 } from 'node:buffer'
import { type Call, endpoint, streamed, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import { senderOf } from '../../git-sessions.js'
import type { ProjectCall } from '../../guards.js'
import { presentFileHeaders } from '../../presenters/file.js'
import { findFile } from '../../use-cases/files.js'
import { optionalText } from '../../wire/parameters.js'

/** Bytes that tell a text from other content. */
const sniffedBytes = 8000

/**
 * `GET /projects/:id/repository/files/:file_path/raw`: the bytes, or the part of them that `Range` asks for. A text is
 * `text/plain` whatever it means, so that no browser runs it.
 */
export const getRawFile = (deps: Dependencies) =>
  endpoint({
    summary: 'The bytes of a file',
    replies: {
      200: ['text/plain', 'application/octet-stream'],
      206: ['text/plain', 'application/octet-stream'],
      416: null,
    },
    refusals: [429],
    input: z.object({ file_path: text(), ref: optionalText(text()) }),
    async handle({ file_path, ref }, access: ProjectCall, call) {
      const revision = ref ?? 'HEAD'
      const { file, repository } = await findFile(access, { path: file_path, revision })
      const { request, response } = call.raw
      response.set({ ...presentFileHeaders(file), ETag: `"${file.blob.id}"`, 'Accept-Ranges': 'bytes' })
      response.set('X-Content-Type-Options', 'nosniff')
      // Every fetch client sends `no-cache` along with If-None-Match, and express would then never answer 304.
      delete request.headers['cache-control']
      if (request.fresh) {
        response.status(304).end()
        return streamed
      }
      const range = isSameContent(request.headers['if-range'], file.blob.id)
        ? request.range(file.blob.size)
        : undefined
      const [part] = typeof range === 'object' && range.type === 'bytes' && range.length === 1 ? range : []
      if (range === -1) {
        response.status(416).set('Content-Range', `bytes */${file.blob.size}`).end()
        return streamed
      }
      if (part) response.status(206).set('Content-Range', `bytes ${part.start}-${part.end}/${file.blob.size}`)
      const { start, end } = part ?? { start: 0, end: file.blob.size - 1 }
      response.set('Content-Length', String(end - start + 1))
      await deps.gitSessions.run(senderOf(access.caller, call), call.signal, async () => {
        await setType(response, file.path, () => repository.readStart(file.blob, sniffedBytes))
        if (request.method !== 'HEAD') await repository.writeBlob(file.blob, response, { start, end })
      })
      response.end()
      return streamed
    },
  })

/** Whether a range may be served: `If-Range` names the content that the client has a part of. */
const isSameContent = (ifRange: string | string[] | undefined, blobId: string) =>
  ifRange === undefined || ifRange === `"${blobId}"`

async function setType(
  response: Call['raw']['response'],
  path: string,
  readStart: () => Promise<Buffer>,
): Promise<void> {
  const start = await readStart()
  // The last character may have been cut off.
  const isText =
    !start.includes(0) && [0, 1, 2, 3].some((cut) => isUtf8(start.subarray(0, start.length - cut)))
  if (!isText) response.attachment(path.slice(path.lastIndexOf('/') + 1))
  response.type(isText ? 'text/plain; charset=utf-8' : 'application/octet-stream')
}
