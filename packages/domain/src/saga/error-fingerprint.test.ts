import { describe, expect, it } from 'vitest'
import { errorFingerprint } from './error-fingerprint.js'

const dotnet = (id: string, line: number) =>
  `System.TimeoutException: order ${id} took 3000 ms\n   at Booking.Hotel.Reserve() in /src/Hotel.cs:line ${line}`

describe('the fingerprint of errors', () => {
  it.each([
    ['numbers', 'took 30 ms', 'took 4500.5 ms'],
    [
      'ids',
      'no seat for 5f0c7a4e-1111-4222-8333-444455556666',
      'no seat for 00000000-aaaa-bbbb-cccc-ddddeeeeffff',
    ],
    ['hexadecimal', 'at 0x7ffe12 in 1a2b3c4d5e', 'at 0xdead in 9f8e7d6c5b'],
    ['quoted values', "no such user 'ann'", "no such user 'bob'"],
    ['line numbers', dotnet('1', 42), dotnet('2', 43)],
    ['white space', 'no  seat ', 'no seat'],
    ['frames far below', `x\n${'  at A.b\n'.repeat(5)}  at C.d`, `x\n${'  at A.b\n'.repeat(5)}  at E.f`],
    ['words after the frames', 'x\n  at A.b\nmore about it', 'x\n  at A.b\nother words'],
  ])('ignores %s', (_, one, other) => {
    expect(errorFingerprint(one)).toBe(errorFingerprint(other))
  })

  it.each([
    ['messages', 'no seat', 'no room'],
    ['frames', 'x\n  at A.b (a.js:1:2)', 'x\n  at A.c (a.js:1:2)'],
    ['words that look like digits', 'deadbeef', 'facade'],
  ])('distinguishes different %s', (_, one, other) => {
    expect(errorFingerprint(one)).not.toBe(errorFingerprint(other))
  })

  it('is 16 hexadecimal digits for any text', () => {
    for (const text of ['', 'x', 'é\0'.repeat(10_000)])
      expect(errorFingerprint(text)).toMatch(/^[0-9a-f]{16}$/)
  })
})
