import { endpoint, filledText, integer, ok, pathCharsMax, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall } from '../../guards.js'
import { blameShape, presentBlame } from '../../presenters/blame.js'
import { presentFileHeaders } from '../../presenters/file.js'
import { blameFile } from '../../use-cases/blame-file.js'
import { describeFile } from '../../use-cases/files.js'
import { optional } from '../../wire/parameters.js'

const lineNumber = () => integer().refine((line) => line >= 1, { error: 'does not have a valid value' })

const input = z.object({
  file_path: text(pathCharsMax),
  ref: filledText(),
  range: optional(z.object({ start: lineNumber(), end: lineNumber() })).meta({
    description: 'First and last line: `range[start]=1&range[end]=20`',
  }),
})

/** `GET` and `HEAD /projects/:id/repository/files/:file_path/blame`; HEAD answers only with facts about the file. */
export const getBlame = endpoint({
  summary: 'The lines of a file, each with the commit that wrote it',
  replies: { 200: z.array(blameShape) },
  refusals: [413, 429],
  input,
  async handle({ file_path, ref, range }, access: ProjectCall, call) {
    const query = { path: file_path, revision: ref }
    if (call.raw.request.method === 'HEAD') {
      const file = await describeFile(access, query)
      return { status: 200, headers: presentFileHeaders(file), body: [] }
    }
    const { file, groups } = await blameFile(access, query, range)
    return { ...ok(groups.map(presentBlame)), headers: presentFileHeaders(file) }
  },
})
