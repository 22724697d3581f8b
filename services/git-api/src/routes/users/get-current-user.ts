import { findUser } from '@switchyard/db'
import { unauthenticated } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import { type Call, endpoint, ok } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import { presentWholeUser, wholeUserShape } from '../../presenters/user.js'

/** `GET /user`: everything about the caller. */
export const getCurrentUser = ({ database }: Dependencies) =>
  endpoint({
    summary: 'The caller',
    replies: { 200: wholeUserShape },
    input: z.object({}),
    async handle(_input, caller: Caller, { baseUrl }: Call) {
      const user = await findUser(database, caller.user.id)
      if (!user) throw unauthenticated()
      return ok(presentWholeUser(user, baseUrl))
    },
  })
