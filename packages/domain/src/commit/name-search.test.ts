import { expect, it } from 'vitest'
import { compileNameSearch } from './name-search.js'

const names = ['main', 'Main-2', 'feat/main', 'fix.1', 'release-1.0']
const found = (search: string) => names.filter(compileNameSearch(search).matches)

it.each([
  ['', names],
  ['main', ['main', 'Main-2', 'feat/main']],
  ['^main', ['main', 'Main-2']],
  ['main$', ['main', 'feat/main']],
  ['^main$', ['main']],
  ['f*1', ['fix.1']],
  ['.', ['fix.1', 'release-1.0']],
  ['nothing', []],
])('the search %j finds names as GitLab does', (search, expected) => {
  expect(found(search)).toEqual(expected)
})

it('knows the name that is the whole search text, in upper or lower case', () => {
  expect(names.filter(compileNameSearch('MAIN').isExact)).toEqual(['main'])
})

it('takes linear time for a search of many wildcards', () => {
  const { matches } = compileNameSearch(`${'*a'.repeat(500)}*b`)
  expect(matches('a'.repeat(1000))).toBe(false)
})
