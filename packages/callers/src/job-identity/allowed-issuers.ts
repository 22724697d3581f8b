import { listedEntries, tooLongText } from '@switchyard/domain'
import { outboundTargetFields } from '@switchyard/outbound-http'
import { z } from 'zod'

/**
 * Configuration of every service that accepts identity tokens of CI jobs; spread into the service's own
 * schema. Keys of issuers are read from addresses that webhooks may reach.
 */
export const trustedIssuerFields = {
  ...outboundTargetFields,
  TRUSTED_ISSUER_HOSTS: z
    .string()
    .refine(
      (list) => listedEntries(list).every((entry) => originOf(entry) !== null),
      'must be hosts such as gitlab.example.com or http://ci.internal:8080, separated by commas',
    )
    .optional()
    .describe(
      'Hosts, separated by commas, whose [identity tokens of CI jobs](keyless-ci.md) projects may trust: `token.actions.githubusercontent.com,gitlab.example.com`. A host has a port where it is not 443, and `http://` in front where it has no TLS. Unset: none',
    ),
}

/** Returns the origins of the issuers that administrators allow. */
export const allowedIssuers = (config: { TRUSTED_ISSUER_HOSTS?: string | undefined }): ReadonlySet<string> =>
  new Set(listedEntries(config.TRUSTED_ISSUER_HOSTS ?? '').flatMap((entry) => originOf(entry) ?? []))

/**
 * Returns the origin of an entry: `ci.example.com` → `https://ci.example.com`; null when the entry is not a
 * host.
 */
function originOf(entry: string): string | null {
  const text = /^https?:\/\//i.test(entry) ? entry : `https://${entry}`
  const url = URL.canParse(text) ? new URL(text) : null
  return url !== null && url.href === `${url.origin}/` && !entry.includes('*') ? url.origin : null
}

const issuerCharsMax = 255

/** Returns the reason why a project cannot trust an issuer; null when it can. */
export function issuerProblem(issuer: string, allowed: ReadonlySet<string>): string | null {
  if (issuer.length > issuerCharsMax) return tooLongText(issuerCharsMax)
  const url = URL.canParse(issuer) ? new URL(issuer) : null
  if (
    url === null ||
    url.username + url.password + url.search + url.hash !== '' ||
    /[?#\s\p{Cc}]/u.test(issuer)
  )
    return 'must be a URL without a user, a query and a fragment'
  return allowed.has(url.origin) ? null : 'is not on a host that administrators allow (TRUSTED_ISSUER_HOSTS)'
}
