import { listUsers as findUsers, type UserOrder, type UserState } from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import {
  type Call,
  endpoint,
  flag,
  pageParameters,
  pageReply,
  rowsOf,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import { presentWholeUser, wholeUserShape } from '../../presenters/user.js'
import { optional, optionalText } from '../optional.js'

const columns = {
  id: 'id',
  name: 'name',
  username: 'username',
  created_at: 'createdAt',
} as const satisfies Record<string, UserOrder['column']>

const columnNames = Object.keys(columns) as [keyof typeof columns]

const input = z.object({
  ...pageParameters,
  username: optionalText(text()),
  search: optionalText(text()),
  active: optional(flag()),
  blocked: optional(flag()),
  order_by: optional(z.enum(columnNames)),
  sort: optional(z.enum(['asc', 'desc'])),
})

/** `GET /users`: newest first, unless another order is asked for. */
export const listUsers = ({ database }: Dependencies) =>
  endpoint({
    summary: 'Users',
    replies: { 200: z.array(wholeUserShape) },
    input,
    async handle(given, _administrator: Caller, call: Call) {
      const { username, search, order_by: column = 'id', sort: direction = 'desc' } = given
      // A user is never both: asking for both finds nobody.
      if (given.active && given.blocked) return pageReply([], given, 0, call)
      const filter = { username, search, state: stateOf(given) }
      const order = { column: columns[column], direction }
      const { users, total } = await findUsers(database, filter, order, rowsOf(given))
      const items = users.map((user) => presentWholeUser(user, call.baseUrl))
      return pageReply(items, given, total, call)
    },
  })

/** `false` asks for nothing, as with GitLab. */
function stateOf({ active, blocked }: { active?: boolean; blocked?: boolean }): UserState | undefined {
  if (active) return 'active'
  return blocked ? 'blocked' : undefined
}
