import type { Caller } from '@switchyard/domain/access'
import { endpoint } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { deleteMergedBranches } from '../../use-cases/branches.js'

/** `DELETE /projects/:id/repository/merged_branches`: the branches are gone when the answer comes. */
export const deleteMergedBranchesEndpoint = (deps: Dependencies) =>
  endpoint({
    summary: 'Delete the branches that are merged into the default branch and not protected',
    replies: { 202: z.object({ message: z.literal('202 Accepted') }) },
    refusals: [413],
    input: z.object({}),
    async handle(_input, access: ProjectCall<Caller>, call) {
      await deleteMergedBranches(deps, access, call)
      return { status: 202, body: { message: '202 Accepted' } }
    },
  })
