import type { Caller } from '@switchyard/domain/access'
import { auditAuthor, created, endpoint, filledText, flag } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import { presentWholeUser, wholeUserShape } from '../../presenters/user.js'
import { createUser as addUser } from '../../use-cases/create-user.js'

const input = z.object({
  email: filledText(),
  username: filledText(),
  name: filledText(),
  admin: flag().default(false),
})

/** `POST /users`. Users sign in with tokens, so a password in the request is passed over. */
export const createUser = (deps: Dependencies) =>
  endpoint({
    summary: 'Create a user',
    replies: { 201: wholeUserShape },
    refusals: [409],
    input,
    async handle(user, administrator: Caller, call) {
      const added = await addUser(deps, user, auditAuthor(administrator, call))
      return created(presentWholeUser(added, call.baseUrl))
    },
  })
