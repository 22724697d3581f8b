import type { Caller } from '@switchyard/domain/access'
import { auditAuthor, endpoint, noContent, rowId } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import { revokeTokenFor } from '../../use-cases/revoke-token.js'

/** `DELETE /personal_access_tokens/:id`: any for administrators, their own for everybody else. */
export const revokeToken = (deps: Pick<Dependencies, 'database' | 'forgetUsers'>) =>
  endpoint({
    summary: 'Revoke a token: any for administrators, an own one for everybody else',
    replies: { 204: null },
    input: z.object({ id: rowId() }),
    async handle({ id }, caller: Caller, call) {
      await revokeTokenFor(deps, caller, id, auditAuthor(caller, call))
      return noContent()
    },
  })
