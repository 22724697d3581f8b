import { DomainError } from '@switchyard/domain'
import { describe, expect, it } from 'vitest'
import { matchingNames } from './name-regex.js'

const branches = ['main', 'tmp/a', 'tmp/b', 'x-tmp/', 'Tmp/c', 'release/1.2', 'ünïcode'].map((name) => ({
  name,
}))
const found = async (regex: string) => (await matchingNames(branches, regex)).map(({ name }) => name)
const refusal = (regex: string) =>
  matchingNames(branches, regex).then(
    () => null,
    (error: unknown) => (error instanceof DomainError ? error.detail : error),
  )

describe('a regular expression over names', () => {
  it.each([
    ['^tmp/', ['tmp/a', 'tmp/b']],
    ['tmp', ['tmp/a', 'tmp/b', 'x-tmp/']],
    ['(?i)^tmp/', ['tmp/a', 'tmp/b', 'Tmp/c']],
    ['^release/\\d+\\.\\d+$', ['release/1.2']],
    ['^(main|tmp/b)$', ['main', 'tmp/b']],
    ['\\p{L}ï', ['ünïcode']],
    ['nothing', []],
  ])('%s matches as in RE2, anywhere and by case', async (regex, names) => {
    expect(await found(regex)).toEqual(names)
  })

  it.each(['(', '[a', '*', '(?=a)', '(?<!a)b', '(a)\\1', 'a{1001}', '\\'])(
    'is refused when RE2 does not know it: %s',
    async (regex) => {
      expect(await refusal(regex)).toBe('Regex is invalid')
    },
  )

  it('is refused when it is larger than a name needs', async () => {
    expect(await refusal('(a{1000}|b{1000}|c{1000})')).toBe('Regex is too large')
  })

  it.each(['(a+)+$', '(a|a)*b', '(a?){100}a{100}b', '(.*)(.*)(.*)(.*)(.*)[^a]$'])(
    'takes time in proportion to the names: %s',
    async (regex) => {
      const long = Array.from({ length: 500 }, (_each, index) => ({ name: `${'a'.repeat(900)}${index}!` }))
      const startedMs = performance.now()
      await matchingNames(long, regex)
      expect(performance.now() - startedMs).toBeLessThan(5000)
    },
  )
})
