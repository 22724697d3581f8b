import { endpoint } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import { baseName } from '../../presenters/base-name.js'
import { openRawFile } from '../../use-cases/files.js'
import { splitRevision } from '../../use-cases/split-revision.js'
import { sendRaw } from '../files/send-raw.js'
import { kindOf, refType } from './reference-kind.js'
import { turnAway, type Visit } from './visitors.js'

/** `GET /:namespace/:project/-/raw/*rest`: revision and path; a pointer of Git LFS stands for its object. */
export const getRawPage = (deps: Dependencies) =>
  endpoint({
    input: z.object({ rest: z.array(z.string()), ref_type: refType() }),
    async handle({ rest: parts, ref_type }, access: Visit, call) {
      if (!access) return turnAway(call, 'raw', parts)
      const { revision, rest } = await splitRevision(access, parts, kindOf(ref_type))
      const query = { path: rest.join('/'), revision, lfs: true }
      const { file, content } = await openRawFile(deps, access, query, call)
      return sendRaw(content, { fileName: baseName(file.path) }, call)
    },
  })
