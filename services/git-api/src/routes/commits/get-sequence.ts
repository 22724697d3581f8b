import { endpoint, flag, ok, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall } from '../../guards.js'
import { countCommits } from '../../use-cases/read-commits.js'

/** `GET /projects/:id/repository/commits/:sha/sequence` */
export const getSequence = endpoint({
  summary: 'The number of commits in the history of a commit, itself included',
  replies: { 200: z.object({ count: z.int() }).meta({ id: 'CommitSequence' }) },
  input: z.object({ sha: text(), first_parent: flag().default(false) }),
  async handle({ sha, first_parent }, access: ProjectCall) {
    const count = await countCommits(access, { revision: sha, firstParent: first_parent })
    return ok({ count })
  },
})
