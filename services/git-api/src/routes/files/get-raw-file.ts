import { endpoint, flag, pathCharsMax, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { baseName } from '../../presenters/base-name.js'
import { presentFileHeaders } from '../../presenters/file.js'
import { openRawFile } from '../../use-cases/files.js'
import { optionalText } from '../../wire/parameters.js'
import { rawTypes, sendRaw } from './send-raw.js'

/** `GET /projects/:id/repository/files/:file_path/raw` */
export const getRawFile = (deps: Dependencies) =>
  endpoint({
    summary: 'The bytes of a file',
    replies: { 200: rawTypes, 206: rawTypes, 416: null },
    refusals: [429],
    input: z.object({
      file_path: text(pathCharsMax),
      ref: optionalText(text()),
      lfs: flag().default(false).meta({ description: 'The object of Git LFS that the file stands for' }),
    }),
    async handle({ file_path, ref, lfs }, access: ProjectCall, call) {
      const query = { path: file_path, revision: ref ?? 'HEAD', lfs }
      const { file, content } = await openRawFile(deps, access, query, call)
      const headers = presentFileHeaders(file)
      return sendRaw(content, { fileName: baseName(file.path), headers }, call)
    },
  })
