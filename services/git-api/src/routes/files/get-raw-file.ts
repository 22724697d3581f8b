import type { ByteRange } from '@switchyard/git-storage'
import { type Call, endpoint, flag, streamed, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { baseName } from '../../presenters/base-name.js'
import { presentFileHeaders } from '../../presenters/file.js'
import { openRawFile, type RawFile } from '../../use-cases/files.js'
import { optionalText } from '../../wire/parameters.js'
import { startBytes } from '../start-bytes.js'

const types = ['text/plain', 'application/octet-stream']

/**
 * `GET /projects/:id/repository/files/:file_path/raw`: the bytes, or the part of them that `Range` asks for. A text is
 * `text/plain` whatever it means, so that no browser runs it.
 */
export const getRawFile = (deps: Dependencies) =>
  endpoint({
    summary: 'The bytes of a file',
    replies: { 200: types, 206: types, 416: null },
    refusals: [429],
    input: z.object({
      file_path: text(),
      ref: optionalText(text()),
      lfs: flag().default(false).meta({ description: 'The object of Git LFS that the file stands for' }),
    }),
    async handle({ file_path, ref, lfs }, access: ProjectCall, call) {
      const query = { path: file_path, revision: ref ?? 'HEAD', lfs }
      const raw = await openRawFile(deps, access, query, call)
      const range = startAnswer(raw, call)
      if (range) await raw.write(call.raw.response, range)
      call.raw.response.end()
      return streamed
    },
  })

/** Writes status and headers. @returns the bytes to send; null: none */
function startAnswer({ file, isText, content }: RawFile, { raw }: Call): ByteRange | null {
  const { response } = raw
  response.set(presentFileHeaders(file))
  if (!isText) response.attachment(baseName(file.path))
  response.type(isText ? 'text/plain; charset=utf-8' : 'application/octet-stream')
  return startBytes(raw, { etag: `"${content.id}"`, size: content.size })
}
