import type { Caller } from '@switchyard/domain/access'
import { auditAuthor, endpoint, ok, rowId } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { issuedProjectTokenShape, presentIssuedProjectToken } from '../../presenters/project-token.js'
import { rotateProjectToken as rotate } from '../../use-cases/rotate-token.js'
import { optionalDay } from '../../wire/parameters.js'

/** `POST /projects/:id/access_tokens/:token_id/rotate` */
export const rotateProjectToken = (deps: Dependencies) =>
  endpoint({
    summary: 'Replace a token of a project; the new secret is shown only here',
    replies: { 200: issuedProjectTokenShape },
    input: z.object({ token_id: rowId(), expires_at: optionalDay() }),
    async handle({ token_id: id, expires_at: expiresAt }, access: ProjectCall<Caller>, call) {
      const rotated = await rotate(deps, access, { id, expiresAt }, auditAuthor(access.caller, call))
      return ok(presentIssuedProjectToken(rotated.issued, rotated.accessLevel))
    },
  })
