import type { Caller } from '@switchyard/domain/access'
import { endpoint, noContent, text, unmodifiedSinceMs } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { deleteBranch } from '../../use-cases/branches.js'

/** `DELETE /projects/:id/repository/branches/:branch` */
export const deleteBranchEndpoint = (deps: Dependencies) =>
  endpoint({
    summary: 'Delete a branch',
    replies: { 204: null },
    refusals: [400, 409, 412],
    input: z.object({ branch: text() }),
    async handle({ branch }, access: ProjectCall<Caller>, call) {
      await deleteBranch(deps, access, branch, unmodifiedSinceMs(call), call)
      return noContent()
    },
  })
