import { describe, expect, it } from 'vitest'
import { allowedIssuers, issuerProblem, trustedIssuerFields } from './allowed-issuers.js'

const field = trustedIssuerFields.TRUSTED_ISSUER_HOSTS

describe('TRUSTED_ISSUER_HOSTS', () => {
  it.each(['ci.example.com', 'ci.example.com:8443, http://ci.internal:8080', ' [fd00::1] ', '10.0.0.7'])(
    'may be %j',
    (list) => {
      expect(field.safeParse(list).success).toBe(true)
    },
  )

  it.each(['https://ci.example.com/path', 'ftp://ci', '*.example.com', 'user@ci.example.com', 'a b', 'ci?x'])(
    'is not %j',
    (list) => {
      expect(field.safeParse(list).success).toBe(false)
    },
  )

  it('allows nothing when it is unset or empty', () => {
    expect(allowedIssuers({})).toEqual(new Set())
    expect(allowedIssuers({ TRUSTED_ISSUER_HOSTS: ' , ' })).toEqual(new Set())
  })
})

describe('an issuer', () => {
  const allowed = allowedIssuers({ TRUSTED_ISSUER_HOSTS: 'CI.example.com, http://ci.internal:8080' })

  it.each(['https://ci.example.com', 'https://ci.example.com/a/b', 'http://ci.internal:8080/oidc'])(
    'may be %s',
    (issuer) => {
      expect(issuerProblem(issuer, allowed)).toBeNull()
    },
  )

  it.each([
    ['ci.example.com', 'must be a URL'],
    ['https://user@ci.example.com', 'must be a URL'],
    ['https://ci.example.com/?a=b', 'must be a URL'],
    ['https://ci.example.com#a', 'must be a URL'],
    ['http://ci.example.com', 'not on a host'],
    ['https://ci.example.com:8443', 'not on a host'],
    ['https://ci.example.com.evil.example', 'not on a host'],
    ['https://ci.internal:8080', 'not on a host'],
    [`https://ci.example.com/${'a'.repeat(255)}`, 'too long'],
    ['https://ci.example.com/\u0000', 'must be a URL'],
  ])('is not %s', (issuer, problem) => {
    expect(issuerProblem(issuer, allowed)).toContain(problem)
  })
})
