import { randomBytes } from 'node:crypto'
import {
  createToken,
  type DatabaseOrTransaction,
  type NewToken,
  type PersonalAccessToken,
} from '@switchyard/db'
import { invalid } from '@switchyard/domain'
import { lastDayProblem } from '@switchyard/domain/access'
import { hashToken } from '@switchyard/service-kit/http'

/** A token with its secret, which is not stored. */
export interface IssuedToken {
  token: PersonalAccessToken
  secret: string
}

/**
 * 160 random bits in GitLab's form, which scanners for leaked secrets recognize.
 *
 * @param kind of the token: `glpat` of a user or a project, `gldt` a deploy token
 */
export const newSecret = (kind: 'glpat' | 'gldt' = 'glpat'): string =>
  `${kind}-${randomBytes(20).toString('base64url')}`

/**
 * @param latestDay the last day that the token may have; null: any
 * @throws DomainError invalid when its last day has passed or is after `latestDay`
 */
export async function issueToken(
  database: DatabaseOrTransaction,
  token: Omit<NewToken, 'tokenHash'>,
  latestDay: Date | null,
): Promise<IssuedToken> {
  const problem = lastDayProblem(token.expiresAt, latestDay, new Date())
  if (problem !== null) throw invalid({ expires_at: [problem] })
  const secret = newSecret()
  return { secret, token: await createToken(database, { ...token, tokenHash: hashToken(secret) }) }
}
