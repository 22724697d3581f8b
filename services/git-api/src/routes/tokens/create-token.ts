import { findUser } from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import { created, endpoint, filledText, rowId } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import { presentIssuedToken } from '../../presenters/token.js'
import { issueToken } from '../../use-cases/issue-token.js'
import { optional } from '../optional.js'
import { day, scopeList } from '../parameters.js'

const input = z.object({ id: rowId(), name: filledText(), scopes: scopeList(), expires_at: optional(day()) })

/** `POST /users/:id/personal_access_tokens`: the answer is the only place that shows the secret. */
export const createToken = ({ database }: Dependencies) =>
  endpoint({
    input,
    async handle({ id, name, scopes, expires_at }, _administrator: Caller) {
      if (!(await findUser(database, id))) throw notFound('User')
      const token = { userId: id, name, scopes, expiresAt: expires_at ?? null }
      return created(presentIssuedToken(await issueToken(database, token)))
    },
  })
