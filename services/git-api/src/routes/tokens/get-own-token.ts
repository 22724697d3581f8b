import { findToken } from '@switchyard/db'
import { unauthenticated } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import { endpoint, ok } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import { presentToken, tokenShape } from '../../presenters/token.js'

/** `GET /personal_access_tokens/self` */
export const getOwnToken = ({ database }: Dependencies) =>
  endpoint({
    summary: 'The token of this request',
    replies: { 200: tokenShape },
    input: z.object({}),
    async handle(_input, caller: Caller) {
      const token = await findToken(database, caller.token.id)
      if (!token) throw unauthenticated()
      return ok(presentToken(token))
    },
  })
