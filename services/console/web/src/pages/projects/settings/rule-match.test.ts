import { describe, expect, it } from 'vitest'
import type { TrustedIssuer } from '../../../generated/types.gen'
import { mismatches, readClaims, readPatterns, tokenProblem } from './rule-match'

const rule = {
  active: true,
  issuer: 'https://ci.example.com',
  audience: 'switchyard',
  claims: { repository: 'acme/engine', ref: 'refs/heads/*' },
} as unknown as TrustedIssuer
const claims = { iss: rule.issuer, aud: 'switchyard', repository: 'acme/engine', ref: 'refs/heads/main' }

const base64url = (text: string) =>
  btoa(String.fromCharCode(...new TextEncoder().encode(text)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

describe('the claims of a job', () => {
  it('are read from JSON, and from a token with claims in any script', () => {
    const text = JSON.stringify({ ...claims, actor: 'Ädä ☃ >>>' })
    expect(readClaims(text)).toEqual(JSON.parse(text))
    expect(readClaims(` eyJ.${base64url(text)}.sig-_ \n`)).toEqual(JSON.parse(text))
  })

  it.each(['', 'glpat-x', '[]', 'null', '7', 'a.b.c', '{"a":', 'eyJ.%%%.x'])(
    'are not read from %j',
    (text) => {
      expect(readClaims(text)).toBeNull()
    },
  )

  it('match a rule, or the differences are listed', () => {
    expect(mismatches(rule, claims)).toEqual([])
    expect(mismatches(rule, { ...claims, aud: ['other', 'switchyard'] })).toEqual([])
    expect(
      mismatches(
        { ...rule, active: false },
        { ...claims, iss: 'https://x', aud: ['a'], repository: 'mallory/engine', ref: undefined },
      ),
    ).toEqual([
      'the rule has ended',
      'iss is https://x, not https://ci.example.com',
      'aud is ["a"], not switchyard',
      'repository is mallory/engine, not acme/engine',
      'ref is missing, not refs/heads/*',
    ])
  })
})

describe('a whole token', () => {
  const nowSeconds = 1_800_000_000
  const good = { ...claims, sub: 'job', iat: nowSeconds - 10, exp: nowSeconds + 300 }
  const token = (changes: object, header: object = { alg: 'RS256' }, signature = 'sig') =>
    [base64url(JSON.stringify(header)), base64url(JSON.stringify({ ...good, ...changes })), signature].join(
      '.',
    )

  it.each([
    ['expired', token({ exp: nowSeconds - 90 }), 'it has expired (exp); ERR_JWT_EXPIRED'],
    ['of long ago', token({ iat: nowSeconds - 3700 }), 'more than an hour ago (iat); ERR_JWT_EXPIRED'],
    ['of the future', token({ nbf: nowSeconds + 90 }), 'not valid yet (nbf, iat); ERR_JWT_CLAIM'],
    ['without an end', token({ exp: undefined }), 'exp is missing; ERR_JWT_CLAIM_VALIDATION_FAILED'],
    ['with a text for a time', token({ exp: '2999' }), 'have to be numbers; ERR_JWT_CLAIM_VALIDATION_FAILED'],
    ['that nobody signed', token({}, { alg: 'none' }, ''), 'ERR_JOSE_ALG_NOT_ALLOWED'],
    ['with a shared secret', token({}, { alg: 'HS256' }), 'ERR_JOSE_ALG_NOT_ALLOWED'],
    ['with no header', `eyJ.${token({}).split('.')[1]}.sig`, 'ERR_JOSE_ALG_NOT_ALLOWED'],
    ['without its signature', token({}, { alg: 'RS256' }, ''), 'the token has no signature'],
    ['too long', token({ filling: 'x'.repeat(8192) }), 'more than 8192 characters'],
  ])('%s is refused whatever the rules are, and why is said', (_what, text, problem) => {
    expect(tokenProblem(text, nowSeconds)).toContain(problem)
  })

  it('has no visible problem when it is valid, and neither have claims alone', () => {
    expect(tokenProblem(token({}), nowSeconds)).toBeNull()
    expect(tokenProblem(token({ exp: nowSeconds - 30 }), nowSeconds)).toBeNull()
    expect(tokenProblem(JSON.stringify({ ...good, exp: 1 }), nowSeconds)).toBeNull()
  })
})

describe('patterns', () => {
  it('are written one per line', () => {
    expect(readPatterns(' repository = acme/engine\n\nsub=a=b\r\n')).toEqual({
      repository: 'acme/engine',
      sub: 'a=b',
    })
    expect(readPatterns('repository')).toEqual({ repository: '' })
  })
})
