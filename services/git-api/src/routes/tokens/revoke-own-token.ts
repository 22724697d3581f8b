import type { Caller } from '@switchyard/domain/access'
import { auditAuthor, endpoint, noContent } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import { revokeOwnToken as revoke } from '../../use-cases/revoke-own-token.js'

/** `DELETE /personal_access_tokens/self`: refused everywhere within a second. */
export const revokeOwnToken = (deps: Pick<Dependencies, 'database'>) =>
  endpoint({
    summary: 'Revoke the token of this request',
    replies: { 204: null },
    input: z.object({}),
    async handle(_input, caller: Caller, call) {
      await revoke(deps, auditAuthor(caller, call))
      return noContent()
    },
  })
