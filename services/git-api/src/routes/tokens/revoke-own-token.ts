import type { Caller } from '@switchyard/domain/access'
import { auditAuthor, endpoint, noContent } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import { revokeTokenFor } from '../../use-cases/revoke-token.js'

/** `DELETE /personal_access_tokens/self` */
export const revokeOwnToken = (deps: Pick<Dependencies, 'database' | 'forgetUsers'>) =>
  endpoint({
    summary: 'Revoke the token of this request',
    replies: { 204: null },
    input: z.object({}),
    async handle(_input, caller: Caller, call) {
      await revokeTokenFor(deps, caller, caller.token.id, auditAuthor(caller, call))
      return noContent()
    },
  })
