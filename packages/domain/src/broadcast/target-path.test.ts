import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { matchesTargetPath } from './target-path.js'

/** Applies the rule by a regular expression, which is too slow for targets made to be slow. */
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
    ['/über/*', '/%C3%BCber/1', true],
    ['/%c3%bcber/*', '/Über/1', true],
    ['%C3%BCber', '/über', true],
    ['/a b', '/a%20b', true],
    ['/日本/😀', '/%E6%97%A5%E6%9C%AC/%F0%9F%98%80', true],
    ['/%2A', '/*', true],
    ['/%2A', '/anything', false],
    ['/100%', '/100%', true],
    ['/100%', '/100%25', true],
    ['/%zz/%C3', '/%ZZ/%c3', true],
    ['/%C0%80', '/%c0%80', true],
    ['/%C3%BC%C3', '/ü%c3', true],
    ['/%ED%A0%80', '/\ud800', false],
    ['/a*a', '/a', false],
    ['/a**b', '/ab', true],
    ['/a\n/b/*', '/a', true],
    [' /a \r\n\n b/* ', '/b/c', true],
    ['/a\n/b/*', '/a/b', false],
    ['/a\n/b/*', '/', false],
  ])('%s on %s: %s', (target, path, shown) => {
    expect(matchesTargetPath(target, path)).toBe(shown)
  })

  it('are all pages without a target', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom(null, '', ' '), (path, target) => {
        expect(matchesTargetPath(target, path)).toBe(true)
      }),
    )
  })

  it('are those that the equivalent regular expression finds, for every target and path', () => {
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

  it('include every path that fills in the stars of the target', () => {
    const part = fc.string({ unit: fc.constantFrom('a', 'b', '/', 'ü', '.'), maxLength: 5 })
    fc.assert(
      fc.property(fc.array(fc.tuple(part, part), { minLength: 1, maxLength: 6 }), (pieces) => {
        const target = `/${pieces.map(([fixed]) => fixed).join('*')}*`
        const path = `/${pieces.map(([fixed, filled]) => fixed + filled).join('')}`
        expect(matchesTargetPath(target, path)).toBe(true)
      }),
    )
  })

  it('are the same for an address in its original and its percent-encoded form', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'ü', '日', '😀', ' ', '/'), maxLength: 12 })
    fc.assert(
      fc.property(text, text, (target, path) => {
        const encoded = encodeURI(path)
        expect(matchesTargetPath(`/${target}`, `/${encoded}`)).toBe(
          matchesTargetPath(`/${target}`, `/${path}`),
        )
        expect(matchesTargetPath(`/${encodeURI(target)}*`, `/${target}${encoded}`)).toBe(true)
      }),
    )
  })

  it('are found quickly, also for a target made to be slow', () => {
    const startedAt = performance.now()
    expect(matchesTargetPath(`${'*a'.repeat(100)}*b`, 'a'.repeat(8000))).toBe(false)
    expect(matchesTargetPath(`*${'a'.repeat(200)}b*`, 'a'.repeat(1_000_000))).toBe(false)
    expect(matchesTargetPath('/b', '%c3'.repeat(300_000))).toBe(false)
    expect(performance.now() - startedAt).toBeLessThan(1000)
  })
})
