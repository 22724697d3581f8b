import type { Caller } from '@switchyard/domain/access'
import { created, endpoint, filledText } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { branchShape, presentBranch } from '../../presenters/branch.js'
import { createBranch } from '../../use-cases/branches.js'

/** `POST /projects/:id/repository/branches` */
export const createBranchEndpoint = (deps: Dependencies) =>
  endpoint({
    summary: 'Create a branch',
    replies: { 201: branchShape },
    input: z.object({ branch: filledText(), ref: filledText() }),
    async handle({ branch, ref }, access: ProjectCall<Caller>, call) {
      const made = await createBranch(deps, access, { name: branch, start: ref }, call)
      return created(presentBranch(made, access.project, call.baseUrl))
    },
  })
