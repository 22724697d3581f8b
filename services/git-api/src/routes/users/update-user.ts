import type { Caller } from '@switchyard/domain/access'
import { auditAuthor, endpoint, filledText, flag, ok, rowId } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import { presentWholeUser, wholeUserShape } from '../../presenters/user.js'
import { changeUser } from '../../use-cases/change-user.js'
import { optional } from '../optional.js'

const input = z.object({
  id: rowId(),
  email: optional(filledText()),
  username: optional(filledText()),
  name: optional(filledText()),
  admin: optional(flag()),
})

/** `PUT /users/:id`: changes what is given. What else GitLab's clients send is passed over. */
export const updateUser = (deps: Pick<Dependencies, 'database' | 'forgetUsers'>) =>
  endpoint({
    summary: 'Change a user',
    replies: { 200: wholeUserShape },
    refusals: [409],
    input,
    async handle({ id, ...asked }, administrator: Caller, call) {
      const user = await changeUser(deps, id, asked, auditAuthor(administrator, call))
      return ok(presentWholeUser(user, call.baseUrl))
    },
  })
