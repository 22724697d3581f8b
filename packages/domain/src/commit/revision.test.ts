import fc from 'fast-check'
import { expect, it, test } from 'vitest'
import { isGitFolder, parseFilePath } from './file-path.js'
import { compileNameSearch, isNewRefName, isRefName, parseRevision } from './revision.js'

test.each([
  'main',
  'feature/x.y',
  'v1.0',
  'a@b',
  '@',
  'HEAD',
  'HEAD~2^',
  'main^{commit}',
  'refs/heads/main',
  'dé',
])('%s may name a commit', (revision) => expect(parseRevision(revision)).not.toBeNull())

test.each(['main', 'feature/x.y', 'heads/x', 'a'.repeat(39)])('a branch may have the name %s', (name) =>
  expect(isNewRefName(name)).toBe(true),
)

test.each([
  '',
  '-x',
  'HEAD',
  'a..b',
  'refs/heads/main',
  'refs/x',
  'a'.repeat(40),
  'A'.repeat(40),
  '0'.repeat(64),
])('no branch may have the name %s', (name) => expect(isNewRefName(name)).toBe(false))

const refused = [
  '',
  '-',
  '--help',
  '-n1',
  'a b',
  'a\tb',
  'a\0b',
  'a\nb',
  'a..b',
  '..',
  'a...b',
  'main@{1}',
  '@{-1}',
  '@{u}',
  'HEAD:README',
  ':/text',
  ':0:x',
  '^main',
  'a^{/x}',
  'a^{tree}',
  'a^@',
  'a^!',
  'a^-',
  'a.lock',
  '.a',
  'a/.b',
  'a//b',
  '/a',
  'a/',
  'a.',
  'a*',
  'a?',
  'a[',
  'a\\b',
  '\u007f',
]
test.each(refused)('%j is refused without a call of git', (revision) =>
  expect(parseRevision(revision)).toBeNull(),
)

test('an accepted revision never starts with a dash or contains blanks, ranges or paths', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'ab-./@{}~^: \n0') }), (text) => {
      const parsed = parseRevision(text)
      if (parsed) {
        expect(text).not.toMatch(/^-|\.\.|@\{|[:\s]/)
        expect(parsed.name + parsed.steps).toBe(text)
      }
      if (isRefName(text)) expect(text).not.toMatch(/[~^:\s]|^-/)
    }),
    { numRuns: 2000 },
  )
})

test.each([
  '.git',
  '.GIT',
  '.git.',
  '.git ',
  '.git...  ',
  'git~1',
  'GIT~1',
  '.git:stream',
  'a\\.git',
  '.gi\u200dt',
  '\ufeff.git',
])('%j is recognized as a form of .git', (name) => expect(isGitFolder(name)).toBe(true))

test.each(['.gitignore', '.github', 'git', 'git~2', '.git-x', 'x.git'])('%s is a plain name', (name) =>
  expect(isGitFolder(name)).toBe(false),
)

test('paths lose their leading slashes, and nothing else', () => {
  expect(parseFilePath('//a/b c')).toEqual(['a', 'b c'])
  expect(parseFilePath('a/../b')).toBe('traversal')
  expect(parseFilePath('a..b')).toEqual(['a..b'])
  for (const path of ['', '/', 'a/', 'a//b', './a', 'a/.', 'a\0', 'x'.repeat(5000)]) {
    expect(parseFilePath(path)).toBe('invalid')
  }
})

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

it('a name that equals the whole search text is exact, in upper or lower case', () => {
  expect(names.filter(compileNameSearch('MAIN').isExact)).toEqual(['main'])
})

it('takes linear time for a search of many wildcards', () => {
  const { matches } = compileNameSearch(`${'*a'.repeat(500)}*b`)
  expect(matches('a'.repeat(1000))).toBe(false)
})
