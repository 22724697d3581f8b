import type { Caller } from '@switchyard/domain/access'
import { auditAuthor, endpoint, ok } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { issuedProjectTokenShape, presentIssuedProjectToken } from '../../presenters/project-token.js'
import { rotateOwnToken } from '../../use-cases/rotate-token.js'
import { optionalDay } from '../../wire/parameters.js'

/** `POST /projects/:id/access_tokens/self/rotate`: for tokens of the project with the scope `api` or `self_rotate`. */
export const rotateOwnProjectToken = (deps: Dependencies) =>
  endpoint({
    summary: 'Replace the project token of this request; the new secret is shown only here',
    replies: { 200: issuedProjectTokenShape },
    input: z.object({ expires_at: optionalDay() }),
    async handle({ expires_at }, { caller, level }: ProjectCall<Caller>, call) {
      const issued = await rotateOwnToken(deps, expires_at, auditAuthor(caller, call))
      return ok(presentIssuedProjectToken(issued, level))
    },
  })
