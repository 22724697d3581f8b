import { randomBytes } from 'node:crypto'
import {
  createToken,
  type DatabaseOrTransaction,
  type NewToken,
  type PersonalAccessToken,
} from '@switchyard/db'
import { invalid } from '@switchyard/domain'
import { hashToken } from '@switchyard/service-kit/http'

/** A token together with its secret, which exists nowhere else. */
export interface IssuedToken {
  token: PersonalAccessToken
  secret: string
}

/** 160 random bits, in GitLab's form, so that scanners for leaked secrets know it. */
export const newSecret = (): string => `glpat-${randomBytes(20).toString('base64url')}`

/** @throws DomainError invalid when its last day has passed */
export async function issueToken(
  database: DatabaseOrTransaction,
  token: Omit<NewToken, 'tokenHash'>,
): Promise<IssuedToken> {
  refusePastDay(token.expiresAt)
  const secret = newSecret()
  return { secret, token: await createToken(database, { ...token, tokenHash: hashToken(secret) }) }
}

const msPerDay = 86_400_000

function refusePastDay(day: Date | null): void {
  if (day !== null && day.getTime() + msPerDay <= Date.now()) {
    throw invalid({ expires_at: ['must be today or later'] })
  }
}
