import { listTokens as findTokens, findUser, type TokenOrder } from '@switchyard/db'
import { forbidden, notFound } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import {
  endpoint,
  flag,
  pageParameters,
  pageReply,
  rowId,
  rowsOf,
  text,
  time,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import { presentToken, tokenShape } from '../../presenters/token.js'
import { optionalField, optionalText } from '../optional.js'
import { day } from '../parameters.js'

const columns = {
  created: 'createdAt',
  created_at: 'createdAt',
  expires: 'expiresAt',
  expires_at: 'expiresAt',
  last_used: 'lastUsedAt',
  last_used_at: 'lastUsedAt',
  name: 'name',
} as const satisfies Record<string, TokenOrder['column']>

type Sort = `${keyof typeof columns}_${TokenOrder['direction']}`

const sorts = Object.keys(columns).flatMap((name) => [`${name}_asc`, `${name}_desc`]) as [Sort, ...Sort[]]

const orderOf = (sort: Sort | undefined): TokenOrder => {
  if (sort === undefined) return { column: 'id', direction: 'desc' }
  const [, name = '', direction] = /^(.+)_(asc|desc)$/.exec(sort) ?? []
  return { column: columns[name as keyof typeof columns], direction: direction as TokenOrder['direction'] }
}

const input = z.object({
  ...pageParameters,
  user_id: optionalField(rowId()),
  state: optionalField(z.enum(['active', 'inactive'])),
  revoked: optionalField(flag()),
  search: optionalText(text()),
  created_before: optionalField(time()),
  created_after: optionalField(time()),
  last_used_before: optionalField(time()),
  last_used_after: optionalField(time()),
  expires_before: optionalField(day()),
  expires_after: optionalField(day()),
  sort: optionalField(z.enum(sorts)),
})

/** `GET /personal_access_tokens`: every token for administrators, their own for everybody else. */
export const listTokens = ({ database }: Pick<Dependencies, 'database'>) =>
  endpoint({
    summary: "Tokens: everybody's for administrators, the caller's own for everybody else",
    replies: { 200: z.array(tokenShape) },
    refusals: [404],
    input,
    async handle(given, { user }: Caller, call) {
      const filter = {
        userId: user.admin ? given.user_id : user.id,
        state: given.state,
        revoked: given.revoked,
        search: given.search,
        createdBefore: given.created_before,
        createdAfter: given.created_after,
        lastUsedBefore: given.last_used_before,
        lastUsedAfter: given.last_used_after,
        expiresBefore: given.expires_before,
        expiresAfter: given.expires_after,
      }
      if (!user.admin && (given.user_id ?? user.id) !== user.id) throw forbidden()
      if (filter.userId !== undefined && !(await findUser(database, filter.userId))) throw notFound('User')
      const { tokens, total } = await findTokens(database, filter, orderOf(given.sort), rowsOf(given))
      return pageReply(tokens.map(presentToken), given, total, call)
    },
  })
