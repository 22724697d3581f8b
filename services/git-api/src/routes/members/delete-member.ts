import type { Caller } from '@switchyard/domain/access'
import { auditAuthor, endpoint, noContent, rowId } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { removeMember } from '../../use-cases/remove-member.js'

/** `DELETE /projects/:id/members/:user_id` */
export const deleteMember = (deps: Dependencies) =>
  endpoint({
    summary: 'Remove a member',
    replies: { 204: null },
    input: z.object({ user_id: rowId() }),
    async handle({ user_id }, access: ProjectCall<Caller>, call) {
      await removeMember(deps, access, user_id, auditAuthor(access.caller, call))
      return noContent()
    },
  })
