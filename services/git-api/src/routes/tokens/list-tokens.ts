import type { TokenOrder } from '@switchyard/db'
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
import * as tokens from '../../use-cases/tokens.js'
import { optional, optionalDay, optionalText } from '../../wire/parameters.js'

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
  user_id: optional(rowId()),
  state: optional(z.enum(['active', 'inactive'])),
  revoked: optional(flag()),
  search: optionalText(text()),
  created_before: optional(time()),
  created_after: optional(time()),
  last_used_before: optional(time()),
  last_used_after: optional(time()),
  expires_before: optionalDay(),
  expires_after: optionalDay(),
  sort: optional(z.enum(sorts)),
})

export const listTokens = (deps: Dependencies) =>
  endpoint({
    summary: "Tokens: everybody's for administrators, the caller's own for everybody else",
    replies: { 200: z.array(tokenShape) },
    refusals: [404],
    input,
    async handle(given, caller: Caller, call) {
      const filter = {
        userId: given.user_id,
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
      const found = await tokens.listTokens(deps, caller, filter, orderOf(given.sort), rowsOf(given))
      return pageReply(found.tokens.map(presentToken), given, found.total, call)
    },
  })
