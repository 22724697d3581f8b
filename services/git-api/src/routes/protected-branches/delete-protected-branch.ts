import type { Caller } from '@switchyard/domain/access'
import { auditAuthor, endpoint, noContent, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { unprotectBranch } from '../../use-cases/unprotect-branch.js'

/** `DELETE /projects/:id/protected_branches/:name`: the branch itself stays. */
export const deleteProtectedBranch = (deps: Pick<Dependencies, 'database'>) =>
  endpoint({
    summary: 'Lift the protection of a branch',
    replies: { 204: null },
    input: z.object({ name: text() }),
    async handle({ name }, access: ProjectCall<Caller>, call) {
      await unprotectBranch(deps, access, name, auditAuthor(access.caller, call))
      return noContent()
    },
  })
