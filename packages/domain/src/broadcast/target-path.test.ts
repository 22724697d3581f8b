import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { matchesTargetPath } from './target-path.js'

/** What the rule means, said with a regular expression; too slow for targets made to be slow. */
function matchesByExpression(target: string, path: string): boolean {
  const escaped = target.toLowerCase().replace(/[.+?^${}()|[\]\\]/g, String.raw`\$&`)
  const pattern = escaped.startsWith('*') || escaped.startsWith('/') ? escaped : `/${escaped}`
  const text = path.toLowerCase().startsWith('/') ? path.toLowerCase() : `/${path.toLowerCase()}`
  return new RegExp(`^${pattern.replaceAll('*', '[^]*')}$`).test(text)
}

describe('the pages a message is shown on', () => {
  it.each([
    ['/groups/*', '/groups/a/b', true],
    ['/groups/*', '/groups', false],
    ['*/welcome', '/users/welcome', true],
    ['*/welcome', '/users/welcome/x', false],
    ['*', '/', true],
    ['/a', '/A', true],
    ['a/b', '/a/b', true],
    ['/a/b', 'a/b', true],
    ['/a/*/c/*/e', '/a/b/c/d/e', true],
    ['/a/*/c/*/e', '/a/b/d/e', false],
    ['/a.c', '/abc', false],
    ['/(a|b)+$', '/a', false],
  ])('%s on %s: %s', (target, path, shown) => {
    expect(matchesTargetPath(target, path)).toBe(shown)
  })

  it('are all of them without a target', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom(null, '', ' '), (path, target) => {
        expect(matchesTargetPath(target, path)).toBe(true)
      }),
    )
  })

  it('are what the same regular expression says, for every target and path', () => {
    const few = fc.string({
      unit: fc.constantFrom('a', 'B', '/', '*', '.', '(', '\\', '$', '-'),
      maxLength: 12,
    })
    const text = fc.string({
      unit: fc.constantFrom('a', 'b', '/', '*', '.', '(', '\\', '$', '-'),
      maxLength: 16,
    })
    fc.assert(
      fc.property(
        few.filter((target) => target !== ''),
        text,
        (target, path) => {
          expect(matchesTargetPath(target, path)).toBe(matchesByExpression(target, path))
        },
      ),
      { numRuns: 2000 },
    )
  })

  it('always include the ones that are made by filling in the stars', () => {
    const part = fc.string({ unit: fc.constantFrom('a', 'b', '/', 'ü', '.'), maxLength: 5 })
    fc.assert(
      fc.property(fc.array(fc.tuple(part, part), { minLength: 1, maxLength: 6 }), (pieces) => {
        const target = `/${pieces.map(([fixed]) => fixed).join('*')}*`
        const path = `/${pieces.map(([fixed, filled]) => fixed + filled).join('')}`
        expect(matchesTargetPath(target, path)).toBe(true)
      }),
    )
  })

  it('are found quickly, also for a target made to be slow', () => {
    const startedAt = performance.now()
    expect(matchesTargetPath(`${'*a'.repeat(100)}*b`, 'a'.repeat(8000))).toBe(false)
    expect(performance.now() - startedAt).toBeLessThan(1000)
  })
})
