import { endpoint, pageParameters, pageReply, rowsOf, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall } from '../../guards.js'
import { listCommitReferences as findReferences } from '../../use-cases/list-commit-references.js'

const referenceShape = z
  .object({ type: z.enum(['branch', 'tag']), name: z.string() })
  .meta({ id: 'CommitReference', description: 'A branch or tag that has a commit in its history' })

/** `GET /projects/:id/repository/commits/:sha/refs` */
export const listCommitReferences = endpoint({
  summary: 'The branches and tags that contain a commit',
  replies: { 200: z.array(referenceShape) },
  input: z.object({
    ...pageParameters,
    sha: text(),
    type: z.enum(['all', 'branch', 'tag']).default('all'),
  }),
  async handle({ sha, type, ...page }, access: ProjectCall, call) {
    const found = await findReferences(access, { revision: sha, type })
    const { skip, take } = rowsOf(page)
    return pageReply(found.slice(skip, skip + take), page, found.length, call)
  },
})
