import { notFound } from '@switchyard/domain'
import { endpoint, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { openArchive } from '../../use-cases/archive.js'
import { splitRevision } from '../../use-cases/split-revision.js'
import { archiveFormatOf, sendArchive } from '../archive.js'
import { kindOf, refType } from './reference-kind.js'
import { turnAway, type Visit } from './visitors.js'

/**
 * `GET /:namespace/:project/-/archive/*rest`: `main.tar.gz`, or `main/any-name.tar.gz`. The name says the format; as in GitLab,
 * `main/<project>-main.tar.gz` is also the name of the archive and of its folder, without the hash.
 */
export const getArchivePage = endpoint({
  input: z.object({ rest: z.array(z.string()), ref_type: refType(), path: text().default('') }),
  async handle({ rest: parts, ref_type, path }, access: Visit, call) {
    if (!access) return turnAway(call, 'archive', parts)
    const last = archiveFormatOf(parts.at(-1) ?? '')
    if (!last) throw notFound()
    const named = [...parts.slice(0, -1), last.stem]
    const { revision, rest } = await splitRevision(access, named, kindOf(ref_type))
    if (rest.length > 1) throw notFound()
    const stem = rest[0]
    const archive = await openArchive(access, { revision, path, format: last.format, stem })
    return sendArchive(archive, last.format, call)
  },
})
