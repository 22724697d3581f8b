import type { Caller } from '@switchyard/domain/access'
import { auditAuthor, endpoint, ok } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import { issuedTokenShape, presentIssuedToken } from '../../presenters/token.js'
import { rotateOwnToken as rotate } from '../../use-cases/rotate-token.js'
import { optionalDay } from '../parameters.js'

/**
 * `POST /personal_access_tokens/self/rotate`: for tokens with the scope `api` or `self_rotate`. The new secret is shown
 * here and never again.
 */
export const rotateOwnToken = (deps: Dependencies) =>
  endpoint({
    summary: 'Replace the token of this request; the new secret is shown only here',
    replies: { 200: issuedTokenShape },
    input: z.object({ expires_at: optionalDay() }),
    async handle({ expires_at }, caller: Caller, call) {
      return ok(presentIssuedToken(await rotate(deps, expires_at, auditAuthor(caller, call))))
    },
  })
