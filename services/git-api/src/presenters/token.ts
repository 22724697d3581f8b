import type { PersonalAccessToken } from '@switchyard/db'

const msPerDay = 86_400_000

/** A token without its secret. */
export function presentToken(token: PersonalAccessToken) {
  const { id, name, scopes, userId, createdAt, lastUsedAt, expiresAt } = token
  const revoked = token.revokedAt !== null
  const expired = expiresAt !== null && expiresAt.getTime() + msPerDay <= Date.now()
  return {
    id,
    name,
    revoked,
    created_at: createdAt,
    description: null,
    scopes,
    user_id: userId,
    last_used_at: lastUsedAt,
    active: !revoked && !expired,
    expires_at: expiresAt?.toISOString().slice(0, 10) ?? null,
  }
}

/** The only answer that ever holds the secret: the one to the request that made the token. */
export const presentIssuedToken = ({ token, secret }: { token: PersonalAccessToken; secret: string }) => ({
  ...presentToken(token),
  token: secret,
})
