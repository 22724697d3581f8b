import { endpoint, ok, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { branchShape, presentBranch } from '../../presenters/branch.js'
import { getBranch } from '../../use-cases/branches.js'

/** `GET /projects/:id/repository/branches/:branch` */
export const getBranchEndpoint = (deps: Dependencies) =>
  endpoint({
    summary: 'One branch',
    replies: { 200: branchShape },
    refusals: [400],
    input: z.object({ branch: text() }),
    async handle({ branch }, access: ProjectCall, call) {
      return ok(presentBranch(await getBranch(deps, access, branch), access.project, call.baseUrl))
    },
  })
