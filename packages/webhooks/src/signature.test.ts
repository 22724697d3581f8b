import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sign, verify } from './signature.js'

const secret = 'a-secret-of-the-receiver'
const now = new Date('2026-11-21T12:00:00.900Z')
const body = '{"event":"saga.error"}'

describe('sign', () => {
  it('signs the seconds, a dot and the body with HMAC-SHA256', () => {
    const expected = createHmac('sha256', secret).update(`1795262400.${body}`).digest('hex')
    expect(sign(secret, body, now)).toBe(`t=1795262400,v1=${expected}`)
  })

  it('signs with two secrets, and a receiver that knows either accepts it', () => {
    const signature = sign([secret, 'the-one-before'], body, now)
    expect(signature).toMatch(/^t=1795262400(,v1=[0-9a-f]{64}){2}$/)
    for (const known of [secret, 'the-one-before'])
      expect(verify({ secret: known, signature, body, now })).toBe(true)
    expect(verify({ secret: 'another', signature, body, now })).toBe(false)
  })
})

describe('verify', () => {
  const signature = sign(secret, body, now)
  const check = (given: object) => verify({ secret, signature, body, now, ...given })

  it('accepts a signature with the secret, also for bytes and beside other versions', () => {
    expect(check({})).toBe(true)
    expect(check({ body: Buffer.from(body) })).toBe(true)
    expect(check({ signature: `v0=1,${signature},v1=00` })).toBe(true)
  })

  it.each([
    ['another body', { body: `${body} ` }],
    ['another secret', { secret: 'another' }],
    ['another time', { signature: signature.replace('1795262400', '1795262401') }],
    ['no time', { signature: signature.replace(/^t=\d+,/, '') }],
    ['no signature', { signature: '' }],
    ['no header', { signature: undefined }],
    ['letters beyond ASCII', { signature: 't=1795262400,v1=ééé' }],
    ['a text behind the signature', { signature: `${signature}x` }],
    ['a time that is written otherwise', { signature: signature.replace('1795262400', '1795262400.0') }],
    ['a tolerance that is no number', { toleranceSeconds: Number.NaN }],
    ['a cut signature', { signature: signature.slice(0, -2) }],
    ['an old one', { now: new Date(now.getTime() + 301_000) }],
    ['one of the future', { now: new Date(now.getTime() - 301_000) }],
  ])('refuses %s', (_case, given) => {
    expect(check(given)).toBe(false)
  })

  it('answers for any text, and never fails', () => {
    fc.assert(fc.property(fc.string(), (text) => !check({ signature: text })))
    fc.assert(
      fc.property(fc.string(), fc.string({ minLength: 1 }), (text, key) =>
        verify({ secret: key, body: text, signature: sign(key, text, now), now }),
      ),
    )
  })
})
