import type { Database } from '@switchyard/db'
import { type Caller, jobIdentityOf, matchesClaims } from '@switchyard/domain/access'
import { createJsonReader, targetPolicy } from '@switchyard/outbound-http'
import type { FindJob } from '@switchyard/service-kit/http'
import type { ServiceContext } from '@switchyard/service-kit/lifecycle'
import { errors } from 'jose'
import { allowedIssuers, issuerProblem } from './allowed-issuers.js'
import { createIssuerKeys, documentLimits } from './issuer-keys.js'
import { createRefusalLog, type Refusal, type RefusalLogger } from './refusals.js'
import { listTrustRules, type TrustRule } from './store.js'
import { createVerifyToken, namedIssuer, type VerifiedToken } from './verify.js'

export interface JobConfig {
  TRUSTED_ISSUER_HOSTS?: string | undefined
  WEBHOOK_ALLOWED_HOSTS?: string | undefined
  WEBHOOK_ALLOW_PRIVATE_NETWORKS: boolean
}

export interface JobDependencies {
  database: Database
  logger: RefusalLogger
  lifecycle: Pick<ServiceContext['lifecycle'], 'onClose'>
}

/**
 * Creates the function that finds the CI job of an identity token, and the rule that allows it to act: in the
 * project that the request names, or outside of projects. The keys of an issuer are read only when a rule
 * names the issuer, so that no stranger can make this service call servers. The reason of each refusal is
 * logged.
 *
 * @returns undefined when administrators allow no issuer
 */
export function openFindJob(
  config: JobConfig,
  { database, logger, lifecycle }: JobDependencies,
): FindJob | undefined {
  const allowed = allowedIssuers(config)
  if (allowed.size === 0) return undefined
  const reader = createJsonReader({ policy: targetPolicy(config), ...documentLimits })
  lifecycle.onClose('keys of issuers', () => reader.close())
  const verify = createVerifyToken(createIssuerKeys(reader))
  const logRefusal = createRefusalLog(logger)

  async function find(token: string, project: string | undefined): Promise<Caller | Refusal> {
    const issuer = namedIssuer(token)
    if (issuer === null || issuerProblem(issuer, allowed) !== null) return { reason: 'unknown issuer' }
    const rules = await listTrustRules(database, issuer, project)
    if (rules.length === 0) return { reason: 'no rule names the issuer', issuer }
    try {
      const verified = await verify(token, issuer)
      const rule = rules.find((each) => matches(each, verified))
      return rule ? callerOf(rule, verified) : { reason: 'no rule matches', issuer }
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error
      const { code: reason, claim } = error as errors.JOSEError & { claim?: string }
      return { reason, claim, issuer }
    }
  }

  return async (token, project) => {
    const found = await find(token, project)
    if (!('reason' in found)) return found
    logRefusal(found, project)
    return null
  }
}

const matches = ({ audience, claims: patterns }: TrustRule, { audiences, claims }: VerifiedToken): boolean =>
  audiences.includes(audience) && matchesClaims(patterns, claims)

const callerOf = (
  { user, scopes, tenants, projectId }: TrustRule,
  { claims }: Pick<VerifiedToken, 'claims'>,
): Caller => ({ user, token: { id: 0, scopes, tenants, projectId, job: jobIdentityOf(claims) } })
