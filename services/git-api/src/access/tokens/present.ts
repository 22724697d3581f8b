import type { PersonalAccessToken } from '@switchyard/db'
import { scopes as allScopes, dayText, hasExpired } from '@switchyard/domain/access'
import { oneOf } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { IssuedToken } from './tokens.js'

export const tokenShape = z
  .object({
    id: z.int(),
    name: z.string(),
    revoked: z.boolean(),
    created_at: z.date(),
    description: z.string().nullable(),
    scopes: z.array(oneOf(allScopes)),
    user_id: z.int(),
    last_used_at: z.date().nullable(),
    active: z.boolean(),
    expires_at: z.string().meta({ format: 'date' }).nullable(),
    tenants: z
      .array(z.string())
      .nullable()
      .meta({ description: 'The only tenants of sagas that the token may name; null: every tenant' }),
  })
  .meta({ id: 'Token', description: 'A token without its secret' })

export const issuedTokenShape = z
  .object({ ...tokenShape.shape, token: z.string() })
  .meta({ id: 'IssuedToken', description: 'A new token; only this response contains its secret' })

/** Returns a token without its secret. */
export function presentToken(token: PersonalAccessToken): z.output<typeof tokenShape> {
  const { id, name, description, scopes, tenants, userId, createdAt, lastUsedAt, expiresAt } = token
  const revoked = token.revokedAt !== null
  const expired = hasExpired(expiresAt, new Date())
  return {
    id,
    name,
    revoked,
    created_at: createdAt,
    description,
    scopes,
    user_id: userId,
    last_used_at: lastUsedAt,
    active: !revoked && !expired,
    expires_at: expiresAt && dayText(expiresAt),
    tenants: tenants.length > 0 ? tenants : null,
  }
}

/** Returns a new token with its secret, which no other answer holds. */
export const presentIssuedToken = ({ token, secret }: IssuedToken): z.output<typeof issuedTokenShape> => ({
  ...presentToken(token),
  token: secret,
})
