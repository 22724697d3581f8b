import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bytesOfName, nameOf, storedPath } from './quoted-name.js'

const bytes = (latin1: string) => Buffer.from(latin1, 'latin1')

test.each([
  ['\xe9byte.txt', '"\\351byte.txt"'],
  ['folder/caf\xe9 "x"\\\t\n\x07\x7f\x00\x01', '"folder/caf\\351 \\"x\\"\\\\\\t\\n\\a\\177\\000\\001"'],
  ['caf\xc3\xa9', 'café'],
  ['"quotes"', '"quotes"'],
  ['back\\slash', 'back\\slash'],
  // A plain name that reads like the quoted form of another file is quoted, too.
  ['"\\351byte.txt"', '"\\"\\\\351byte.txt\\""'],
])('%j is shown as %s, and found by that name', (stored, shown) => {
  expect(nameOf(bytes(stored))).toBe(shown)
  expect(bytesOfName(shown)).toEqual(bytes(stored))
  expect(storedPath(shown)).toBe(stored)
})

test.each([
  '"',
  '""',
  '"a',
  'a"',
  '"a"',
  '"\\x"',
  '"\\141"',
  '"\\303\\251"',
  '"\\351',
  '"\\400"',
  '"\\35"',
  '"\\351é"',
])('%s is a plain name, which no diff shows for another file', (name) =>
  expect(bytesOfName(name)).toEqual(Buffer.from(name)),
)

/** Bytes that matter for quoting. */
const tricky = fc
  .array(fc.constantFrom('"', '\\', '351', '0', 'n', 'a', '/', '\xe9', '\xc3\xa9', '\n', '\0'), {
    maxLength: 12,
  })
  .map((parts) => bytes(parts.join('')))

test('every path has a unique name, by which it is found', () => {
  const anyBytes = fc.oneof(
    fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array)),
    tricky,
    // Names that are the quoted forms of others.
    tricky.map((path) => Buffer.from(nameOf(path))),
    tricky.map((path) => Buffer.from(nameOf(Buffer.from(nameOf(path))))),
  )
  fc.assert(
    fc.property(anyBytes, (path) => {
      expect(bytesOfName(nameOf(path))).toEqual(path)
    }),
    { numRuns: 5000 },
  )
})

test('a name of megabytes that looks quoted is read without delay', () => {
  const startedAt = performance.now()
  bytesOfName(`"${'\\'.repeat(2_000_000)}"`)
  bytesOfName(`"${'\\351'.repeat(500_000)}"`)
  bytesOfName(`"${'\\351'.repeat(16_000)}`)
  expect(performance.now() - startedAt).toBeLessThan(2000)
})
