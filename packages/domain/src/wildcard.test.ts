import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compileWildcard } from './wildcard.js'

/** Matches a pattern letter by letter, which is too slow for patterns made to be slow. */
function matchesSlowly(pattern: string, text: string): boolean {
  if (pattern === '') return text === ''
  const rest = pattern.slice(1)
  if (pattern[0] !== '*') return pattern[0] === text[0] && matchesSlowly(rest, text.slice(1))
  return matchesSlowly(rest, text) || (text !== '' && matchesSlowly(pattern, text.slice(1)))
}

const letters = fc.constantFrom('a', 'b', '/', '.', '$', '(')
const patterns = fc.string({ unit: fc.oneof(letters, fc.constant('*')), maxLength: 8 })
const texts = fc.string({ unit: letters, maxLength: 10 })

test('a pattern matches as its letters and stars define', () => {
  fc.assert(
    fc.property(patterns, texts, (pattern, text) => {
      expect(compileWildcard(pattern)(text)).toBe(matchesSlowly(pattern, text))
    }),
    { numRuns: 5000 },
  )
})

test('a text that fills in the stars of a pattern matches it', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(texts, texts), { minLength: 1, maxLength: 6 }), (pieces) => {
      const pattern = `${pieces.map(([fixed]) => fixed).join('*')}*`
      const text = pieces.map(([fixed, filled]) => fixed + filled).join('')
      expect(compileWildcard(pattern)(text)).toBe(true)
    }),
  )
})

test.each([
  ['', '', true],
  ['', 'a', false],
  ['*', '', true],
  ['a*a', 'a', false],
  ['a*a', 'aa', true],
  ['release/*', 'release/1/2', true],
  ['release/*', 'release', false],
  ['*-stable', 'a\n-stable', true],
  ['a.c', 'abc', false],
])('%j against %j: %s', (pattern, text, matches) => {
  expect(compileWildcard(pattern)(text)).toBe(matches)
})

test('patterns made to be slow are matched without delay', () => {
  const startedAt = performance.now()
  expect(compileWildcard(`${'*a'.repeat(24)}*b`)('a'.repeat(60))).toBe(false)
  expect(compileWildcard(`${'*a'.repeat(5000)}*b`)('a'.repeat(1_000_000))).toBe(false)
  expect(compileWildcard(`*b${'a'.repeat(5000)}*`)('a'.repeat(1_000_000))).toBe(false)
  // Exponential time would take far longer. The work itself takes some milliseconds.
  expect(performance.now() - startedAt).toBeLessThan(5000)
})
