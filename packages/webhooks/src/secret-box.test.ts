import { randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import { Secret } from '@switchyard/config'
import { DomainError } from '@switchyard/domain'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createSecretBox, UnreadableSecret, webhookSecretFields } from './secret-box.js'

const newKey = (encoding: 'base64' | 'base64url' = 'base64') => randomBytes(32).toString(encoding)
const boxWith = (...keys: string[]) => createSecretBox({ WEBHOOK_SECRET_KEYS: new Secret(keys.join(', ')) })

describe('a secret of a webhook', () => {
  it('is decrypted with its key, and differs each time it is encrypted', () => {
    const box = boxWith(newKey())
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 100 }), (secret) => {
        const encrypted = box.encrypt(secret)
        expect(box.decrypt(encrypted)).toBe(secret)
        expect(Buffer.compare(box.encrypt(secret).bytes, encrypted.bytes)).not.toBe(0)
      }),
    )
  })

  it('is decrypted with every key, and encrypted with the first', () => {
    const [older, newer] = [newKey(), newKey('base64url')]
    const before = boxWith(older).encrypt('whsec')
    const box = boxWith(newer, older)
    expect(box.decrypt(before)).toBe('whsec')
    expect(box.encrypt('whsec').keyId).toBe(boxWith(newer).keyIds[0])
    expect(box.keyIds).toEqual([boxWith(newer).keyIds[0], before.keyId])
  })

  it('is not decrypted without its key, and the error names the key', () => {
    const encrypted = boxWith(newKey()).encrypt('whsec')
    for (const box of [boxWith(newKey()), createSecretBox({})]) {
      expect(() => box.decrypt(encrypted)).toThrow(UnreadableSecret)
      expect(() => box.decrypt(encrypted)).toThrow(encrypted.keyId)
    }
  })

  it('is not decrypted when a bit of it has changed, or its end is missing', () => {
    const box = boxWith(newKey())
    const { keyId, bytes } = box.encrypt('whsec')
    fc.assert(
      fc.property(fc.nat(bytes.length * 8 - 1), (bit) => {
        const changed = Uint8Array.from(bytes)
        changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        expect(() => box.decrypt({ keyId, bytes: changed })).toThrow('the secret is damaged')
      }),
    )
    for (let length = 0; length < bytes.length; length += 1) {
      expect(() => box.decrypt({ keyId, bytes: bytes.slice(0, length) })).toThrow('the secret is damaged')
    }
  })

  it('is refused without any key, as a problem that an operator can solve', () => {
    expect(() => createSecretBox({}).encrypt('whsec')).toThrow(DomainError)
    expect(() => createSecretBox({}).encrypt('whsec')).toThrow('WEBHOOK_SECRET_KEYS is not set')
  })
})

describe('WEBHOOK_SECRET_KEYS', () => {
  const schema = z.object(webhookSecretFields)
  const read = (keys?: string) => schema.safeParse({ WEBHOOK_SECRET_KEYS: keys })

  it('contains keys of 32 bytes, which are never printed', () => {
    const key = newKey()
    const { data } = read(`${key},${newKey('base64url')}`)
    expect(createSecretBox(data ?? {}).keyIds).toHaveLength(2)
    expect(inspect(data) + JSON.stringify(data)).not.toContain(key)
    expect(read().success).toBe(true)
  })

  it.each(['short', `${newKey()},x`, randomBytes(31).toString('base64'), randomBytes(33).toString('base64')])(
    'refuses %s',
    (keys) => {
      expect(read(keys).error?.issues[0]?.message).toBe(
        'must be keys of 32 bytes in base64, separated by commas',
      )
    },
  )
})
