import type { Commit } from '@switchyard/domain/commit'
import { describe, expect, it, test } from 'vitest'
import { addSection, findPreviousTag, formatSection, isVersion, listEntries } from './notes.js'

const signature = { name: 'A', email: 'a@example.com', seconds: 0, offsetMinutes: 0 }
const idOf = (number: number) => String(number).repeat(40)
const commit = (number: number, message: string): Commit => ({
  id: idOf(number),
  treeId: idOf(0),
  parentIds: [],
  author: signature,
  committer: signature,
  message,
})

test.each(['1.2.3', 'v1.2.3', '1.0.0-rc.1', '1.0.0+build.7', '99999999999999999999.0.0'])(
  '%s is a version',
  (text) => expect(isVersion(text)).toBe(true),
)

test.each([
  '',
  '1',
  '1.2',
  '01.2.3',
  '1.2.3-',
  '1.2.3 ',
  '1.2.3\n',
  'release-1.2.3',
  '1.2.3-a..b',
  'vv1.2.3',
])('%j is no version', (text) => expect(isVersion(text)).toBe(false))

test('the previous tag is the tag of the highest stable version below', () => {
  const tags = ['v1.9.0', 'v1.10.0', '1.11.0-rc.1', 'v2.0.0', 'nightly', 'v1.10.0.1', 'v3.0.0']
  expect(findPreviousTag(tags, '2.0.0')).toBe('v1.10.0')
  expect(findPreviousTag(tags, 'v2.0.0-rc.1')).toBe('v1.10.0')
  expect(findPreviousTag(tags, '10.0.0')).toBe('v3.0.0')
  expect(findPreviousTag(tags, '1.9.0')).toBeNull()
  expect(findPreviousTag([], '1.0.0')).toBeNull()
})

describe('the entries of a range', () => {
  it('are the commits with the trailer, whatever the case of its name', () => {
    const commits = [
      commit(3, 'Three\n\nchangelog: fixed\n'),
      commit(2, 'Two\n\nChangelog: is mentioned in prose only.\nAnd more.\n'),
      commit(1, 'One\n\nChangelog: added\nReviewed-by: A\n'),
    ]
    const values = listEntries(commits, 'Changelog').map(({ value }) => value)
    expect(values).toEqual(['fixed', 'added'])
  })

  it('leave out a commit that a later one reverts, and include it when the revert is reverted', () => {
    const added = commit(1, 'One\n\nChangelog: added\n')
    const revert = commit(2, `Revert "One"\n\nThis reverts commit ${added.id}\n`)
    expect(listEntries([revert, added], 'Changelog')).toEqual([])
    const again = commit(3, `Revert "Revert"\n\nThis reverts commit ${revert.id}\n`)
    expect(listEntries([again, revert, added], 'Changelog')).toEqual([{ commit: added, value: 'added' }])
  })
})

const section = (entries: Parameters<typeof formatSection>[0]['entries'], titles = {}) =>
  formatSection({
    version: '1.2.0',
    date: '2026-02-03',
    entries,
    titles: new Map(Object.entries(titles)),
    addressOf: ({ id }) => `https://forge/${id.slice(0, 3)}`,
  })

describe('a section', () => {
  it('groups the commits by the value of the trailer', () => {
    const entries = [
      { commit: commit(3, 'Three\n'), value: 'added' },
      { commit: commit(2, 'Two\n'), value: 'fixed' },
      { commit: commit(1, 'One\n'), value: 'added' },
    ]
    expect(section(entries)).toBe(
      '## 1.2.0 (2026-02-03)\n\n' +
        '### added (2 changes)\n\n- [Three](https://forge/333)\n- [One](https://forge/111)\n\n' +
        '### fixed (1 change)\n\n- [Two](https://forge/222)\n',
    )
    const titles = { security: 'Security', fixed: 'Bugs', added: 'Features' }
    expect(section(entries, titles).match(/^### .*/gm)).toEqual([
      '### Bugs (1 change)',
      '### Features (2 changes)',
    ])
  })

  it('says that nothing changed', () => {
    expect(section([])).toBe('## 1.2.0 (2026-02-03)\n\nNo changes.\n')
  })

  it('keeps the text of a commit within its link and its line', () => {
    const title = 'a](javascript:x) <img src=x>\r# \\b'
    const [, , , , line] = section([{ commit: commit(1, title), value: '</h3>\u0007' }]).split('\n')
    expect(line).toBe('- [a\\](javascript:x) \\<img src=x> # \\\\b](https://forge/111)')
    expect(section([{ commit: commit(1, 'x'.repeat(5000)), value: 'y'.repeat(5000) }]).length).toBeLessThan(
      500,
    )
  })
})

describe('a file', () => {
  const added = '## 1.2.0 (2026-02-03)\n\nNo changes.\n'

  it('has the new section above the other ones and below the text before them', () => {
    expect(addSection('', '1.2.0', added)).toBe(added)
    expect(addSection('## 1.1.0\n\nOld\n', '1.2.0', added)).toBe(`${added}\n## 1.1.0\n\nOld\n`)
    const text = '# Changelog\n\n## Unreleased\n\n\n\n## [v1.1.0] - 2025-01-01\n\nOld\n\n## 1.0.0\n'
    expect(addSection(text, '1.2.0', added)).toBe(
      `# Changelog\n\n## Unreleased\n\n${added}\n## [v1.1.0] - 2025-01-01\n\nOld\n\n## 1.0.0\n`,
    )
    expect(addSection('# Changelog', '1.2.0', added)).toBe(`# Changelog\n\n${added}`)
  })

  it('has only one section of a version', () => {
    const refused = expect.objectContaining({ kind: 'unprocessable' })
    expect(() => addSection(`## 2.0.0\n\n${added}`, 'v1.2.0', added)).toThrow(refused)
    expect(addSection('## 1.2.0-rc.1\n', '1.2.0', added)).toContain('## 1.2.0-rc.1')
  })
})
