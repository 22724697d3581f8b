import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { unseenActivity } from './activity.js'
import {
  addContentKey,
  type Content,
  contentHash,
  contentKeyOf,
  hasContentKey,
  keyInAttempt,
} from './content-keys.js'

const content = (given: Partial<Content> = {}): Content => ({
  operation: 'ActivityEnded',
  request: Buffer.from('abc'),
  eventSeq: null,
  attempt: null,
  ...given,
})
const key = (given: Partial<Content>) => contentKeyOf(contentHash(content(given)))

describe('the key of a content', () => {
  it.each<[string, Partial<Content>]>([
    ['operation', { operation: 'ActivityCompensated' }],
    ['a similar operation', { operation: 'SagaEnded' }],
    ['request', { request: Buffer.from('abd') }],
    ['length of the request', { request: Buffer.from('abc\0') }],
    ['sequence', { eventSeq: 0 }],
    ['a high sequence', { eventSeq: 2 ** 40 }],
    ['attempt', { attempt: 0 }],
    ['another attempt', { attempt: 1 }],
    ['the part that a number belongs to', { eventSeq: null, attempt: 0 }],
    ['a request that looks like another part', { request: Buffer.from('0\nabc') }],
  ])('differs by %s', (_, given) => {
    expect(key(given)).not.toBe(key({}))
  })

  it('is the same for the same content', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (request) => {
        expect(key({ request })).toBe(key({ request: Buffer.from(request) }))
      }),
    )
  })

  it('begins with a version, followed by the SHA-256 of the parts', () => {
    const hash = createHash('sha256').update('ActivityEnded\n7\n\nabc').digest()
    const expected = Buffer.concat([Uint8Array.of(1), hash.subarray(0, 16)])
    expect(Buffer.from(contentHash(content({ eventSeq: 7 })))).toEqual(expected)
  })

  it('distinguishes a hundred thousand similar requests, by either half', () => {
    const hashes = Array.from({ length: 100_000 }, (_, index) =>
      Buffer.from(contentHash(content({ request: Buffer.from(`saga-${index}`) }))),
    )
    expect(new Set(hashes.map((hash) => hash.toString('hex'))).size).toBe(100_000)
    // Among a hundred thousand of 2^32 values, about one pair is equal.
    for (const half of [1, 9]) {
      expect(new Set(hashes.map((hash) => hash.readUInt32LE(half))).size).toBeGreaterThan(99_990)
    }
  })
})

describe('the stored keys', () => {
  const keyOf = (index: number) => key({ request: Buffer.from(`${index}`) })

  it('match only as wholes', () => {
    const keys = addContentKey(addContentKey('', 'aaaaaaab'), 'cccccccc')
    expect(hasContentKey(keys, 'aaaaaaab')).toBe(true)
    expect(hasContentKey(keys, 'cccccccc')).toBe(true)
    expect(hasContentKey(keys, 'aaaaaabc')).toBe(false)
    expect(hasContentKey('aaaaaaaabbbbbbbb', 'aaaabbbb')).toBe(false)
  })

  it('are the newest 64', () => {
    const keys = Array.from({ length: 70 }, (_, index) => keyOf(index)).reduce(addContentKey, '')
    expect(keys).toHaveLength(64 * 17)
    expect([5, 6, 69].map((index) => hasContentKey(keys, keyOf(index)))).toEqual([false, true, true])
  })

  it('are found behind keys of an earlier version, none of which matches', () => {
    const earlier = ['earlier1', 'earlier2', 'earlier3'].join('')
    const keys = addContentKey(addContentKey(earlier, keyOf(1)), keyOf(2))
    expect([0, 1, 2].map((index) => hasContentKey(keys, keyOf(index)))).toEqual([false, true, true])
    expect(hasContentKey(earlier, 'earlier2')).toBe(true)
    const full = Array.from({ length: 64 }, (_, index) => keyOf(index)).reduce(addContentKey, earlier)
    expect(full).toHaveLength(64 * 17)
    expect(hasContentKey(full, keyOf(0))).toBe(true)
  })

  it('belong to an attempt, and keep their version', () => {
    const activity = { ...unseenActivity('a', new Date(0)), executeAttempts: 1, compensateAttempts: 2 }
    const mixed = keyInAttempt(keyOf(1), activity)
    expect(mixed).not.toBe(keyOf(1))
    expect(mixed).toHaveLength(17)
    expect(mixed.charCodeAt(0)).toBe(1)
  })
})
