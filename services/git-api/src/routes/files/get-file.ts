import { endpoint, filledText, ok, pathCharsMax, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall } from '../../guards.js'
import { fileShape, presentFile, presentFileHeaders } from '../../presenters/file.js'
import { describeFile, readFile } from '../../use-cases/files.js'

/** `GET` and `HEAD /projects/:id/repository/files/:file_path`; HEAD answers only with the facts in headers. */
export const getFile = endpoint({
  summary: 'A file and its content',
  replies: { 200: fileShape },
  headers: { 'X-Gitlab-File-Name': 'Every field but the content has a header of this kind' },
  refusals: [413, 429],
  input: z.object({ file_path: text(pathCharsMax), ref: filledText() }),
  async handle({ file_path, ref }, access: ProjectCall, call) {
    const query = { path: file_path, revision: ref }
    if (call.raw.request.method === 'HEAD') {
      const file = await describeFile(access, query)
      return { status: 200, headers: presentFileHeaders(file), body: {} }
    }
    const { file, content } = await readFile(access, query)
    return { ...ok(presentFile(file, content)), headers: presentFileHeaders(file) }
  },
})
