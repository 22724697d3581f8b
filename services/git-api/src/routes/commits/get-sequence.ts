import { endpoint, flag, ok, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { countCommits } from '../../use-cases/get-commit.js'

/** `GET /projects/:id/repository/commits/:sha/sequence` */
export const getSequence = (deps: Dependencies) =>
  endpoint({
    summary: 'How many commits lead to a commit, itself included',
    replies: { 200: z.object({ count: z.int() }).meta({ id: 'CommitSequence' }) },
    input: z.object({ sha: text(), first_parent: flag().default(false) }),
    async handle({ sha, first_parent }, access: ProjectCall, call) {
      const count = await countCommits(deps, access, { revision: sha, firstParent: first_parent }, call)
      return ok({ count })
    },
  })
