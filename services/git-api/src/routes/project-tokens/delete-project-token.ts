import type { Caller } from '@switchyard/domain/access'
import { auditAuthor, endpoint, noContent, rowId } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { revokeProjectToken } from '../../use-cases/tokens.js'

/** `DELETE /projects/:id/access_tokens/:token_id` */
export const deleteProjectToken = (deps: Dependencies) =>
  endpoint({
    summary: 'Revoke a token of a project',
    replies: { 204: null },
    input: z.object({ token_id: rowId() }),
    async handle({ token_id }, access: ProjectCall<Caller>, call) {
      await revokeProjectToken(deps, access.project.id, token_id, auditAuthor(access.caller, call))
      return noContent()
    },
  })
