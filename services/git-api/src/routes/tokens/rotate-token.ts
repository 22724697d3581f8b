import type { Caller } from '@switchyard/domain/access'
import { auditAuthor, endpoint, ok, rowId } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import { issuedTokenShape, presentIssuedToken } from '../../presenters/token.js'
import { rotateTokenFor } from '../../use-cases/rotate-token.js'
import { optionalField } from '../optional.js'
import { day } from '../parameters.js'

/** `POST /personal_access_tokens/:id/rotate`: any for administrators, their own for everybody else. */
export const rotateToken = (deps: Pick<Dependencies, 'database' | 'forgetUsers'>) =>
  endpoint({
    summary:
      'Replace a token: any for administrators, an own one for everybody else; the secret is shown only here',
    replies: { 200: issuedTokenShape },
    input: z.object({ id: rowId(), expires_at: optionalField(day()) }),
    async handle({ id, expires_at: expiresAt }, caller: Caller, call) {
      const rotated = await rotateTokenFor(deps, caller, { id, expiresAt }, auditAuthor(caller, call))
      return ok(presentIssuedToken(rotated))
    },
  })
