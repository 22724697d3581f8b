import { endpoint, filledText, ok, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall } from '../../guards.js'
import { fileShape, presentFile, presentFileHeaders } from '../../presenters/file.js'
import { findFile, readContent } from '../../use-cases/files.js'

/** `GET` and `HEAD /projects/:id/repository/files/:file_path`; HEAD has the facts in headers alone. */
export const getFile = endpoint({
  summary: 'A file and its content',
  replies: { 200: fileShape },
  headers: { 'X-Gitlab-File-Name': 'Every field but the content has a header of this kind' },
  refusals: [413],
  input: z.object({ file_path: text(), ref: filledText() }),
  async handle({ file_path, ref }, access: ProjectCall, call) {
    const found = await findFile(access, { path: file_path, revision: ref })
    const headers = presentFileHeaders(found.file)
    if (call.raw.request.method === 'HEAD') return { status: 200, headers, body: {} }
    return { ...ok(presentFile(found.file, await readContent(found))), headers }
  },
})
