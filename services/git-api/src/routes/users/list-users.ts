import { listUsers as findUsers } from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import { type Call, endpoint, pageParameters, pageReply, rowsOf, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import { presentWholeUser, wholeUserShape } from '../../presenters/user.js'

const input = z.object({ ...pageParameters, username: text().optional(), search: text().optional() })

/** `GET /users` */
export const listUsers = ({ database }: Dependencies) =>
  endpoint({
    summary: 'Users',
    replies: { 200: z.array(wholeUserShape) },
    input,
    async handle({ page, per_page, ...filter }, _administrator: Caller, call: Call) {
      const { users, total } = await findUsers(database, filter, rowsOf({ page, per_page }))
      const items = users.map((user) => presentWholeUser(user, call.baseUrl))
      return pageReply(items, { page, per_page }, total, call)
    },
  })
