import type { Database } from '@switchyard/db'
import { type Caller, jobIdentityOf, matchesClaims } from '@switchyard/domain/access'
import type { FindJob } from '@switchyard/service-kit/http'
import { createJsonReader, type TargetPolicy } from '@switchyard/webhooks'
import { issuerProblem } from './allowed-issuers.js'
import { createIssuerKeys, documentLimits, type KeyTimes } from './issuer-keys.js'
import { listTrustRules, type TrustRule } from './store.js'
import { createVerifyToken, namedIssuer, type VerifiedToken } from './verify.js'

export interface FindJobOptions {
  database: Database
  /** Origins of the issuers that administrators allow. */
  allowedIssuers: ReadonlySet<string>
  /** The addresses at which keys may be read. */
  policy: TargetPolicy
  /** Unset: those of {@link keyTimes}. */
  times?: KeyTimes
}

/**
 * Finds the CI job that shows an identity token, and the rule that lets it act: in the project that the request names, or outside of
 * projects. The keys of an issuer are read only when a rule names the issuer, so that nobody has us ask servers in vain.
 */
export function createFindJob({ database, allowedIssuers, policy, times }: FindJobOptions) {
  const reader = createJsonReader({ policy, ...documentLimits })
  const verify = createVerifyToken(createIssuerKeys(reader, times))
  const findJob: FindJob = async (token, project) => {
    const issuer = namedIssuer(token)
    if (issuer === null || issuerProblem(issuer, allowedIssuers) !== null) return null
    const rules = await listTrustRules(database, issuer, project)
    const verified = rules.length > 0 ? await verify(token, issuer) : null
    const rule = verified && rules.find((each) => matches(each, verified))
    return rule ? callerOf(rule, verified) : null
  }
  return { findJob, close: () => reader.close() }
}

const matches = ({ audience, claims: patterns }: TrustRule, { audiences, claims }: VerifiedToken): boolean =>
  audiences.includes(audience) && matchesClaims(patterns, claims)

const callerOf = (
  { user, scopes, tenants, projectId }: TrustRule,
  { claims }: Pick<VerifiedToken, 'claims'>,
): Caller => ({ user, token: { id: 0, scopes, tenants, projectId, job: jobIdentityOf(claims) } })
