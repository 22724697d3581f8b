import type { Caller } from '@switchyard/domain/access'
import { auditAuthor, created, endpoint, filledText, rowId } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import { issuedTokenShape, presentIssuedToken } from '../../presenters/token.js'
import { issuePersonalToken } from '../../use-cases/issue-personal-token.js'
import { optionalField } from '../optional.js'
import { day, scopeList } from '../parameters.js'

const input = z.object({
  id: rowId(),
  name: filledText(),
  scopes: scopeList(),
  expires_at: optionalField(day()),
})

/** `POST /users/:id/personal_access_tokens`: the answer is the only place that shows the secret. */
export const createToken = (deps: Pick<Dependencies, 'database'>) =>
  endpoint({
    summary: 'Make a token for a user; its secret is shown only here',
    replies: { 201: issuedTokenShape },
    input,
    async handle({ id, name, scopes, expires_at }, administrator: Caller, call) {
      const token = { userId: id, name, scopes, expiresAt: expires_at ?? null }
      return created(
        presentIssuedToken(await issuePersonalToken(deps, token, auditAuthor(administrator, call))),
      )
    },
  })
