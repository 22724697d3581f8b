import { describe, expect, it } from 'vitest'
import type { TrustedIssuer } from '../../../generated/types.gen'
import { mismatches, readClaims, readPatterns } from './rule-match'

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
  it('are read from JSON, and from a token whose claims are in any letters', () => {
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

  it('match a rule, or say in what they differ', () => {
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

describe('patterns', () => {
  it('are written one a line', () => {
    expect(readPatterns(' repository = acme/engine\n\nsub=a=b\r\n')).toEqual({
      repository: 'acme/engine',
      sub: 'a=b',
    })
    expect(readPatterns('repository')).toEqual({ repository: '' })
  })
})
