import { rm, symlink, writeFile } from 'node:fs/promises'
import type { Project } from '@switchyard/db'
import { createGitRepository, type TestGitRepository } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, startGitHarness } from '../git-harness.js'

let harness: GitHarness
let project: Project
let work: TestGitRepository
let commits: Record<'root' | 'changes' | 'many', string>

interface Entry {
  old_path: string
  new_path: string
  diff: string
  too_large: boolean
  collapsed: boolean
  additions?: number | null
  deletions?: number | null
}

const manyFiles = 3_000
const longLine = `${'x'.repeat(99)}\n`
/** A name that is not UTF-8, as the API shows it and as git reads it from a list. */
const oddName = '"caf\\351.txt"'

beforeAll(async () => {
  harness = await startGitHarness()
  project = await harness.project()
  work = await createGitRepository()
  await symlink('kept.txt', `${work.path}/link`)
  await writeFile(Buffer.from(`${work.path}/caf\xe9.txt`, 'latin1'), 'one\n')
  const root = await work.commit({
    files: { 'kept.txt': 'a\nb\nc\n', 'old.txt': '1\n2\n3\n4\n', 'gone.txt': 'g\n', bin: '\0\x01' },
  })
  await work.git('mv', 'old.txt', 'new.txt')
  await rm(`${work.path}/gone.txt`)
  await rm(`${work.path}/link`)
  await writeFile(Buffer.from(`${work.path}/caf\xe9.txt`, 'latin1'), 'one\ntwo\n')
  const changes = await work.commit({
    files: {
      'kept.txt': 'a\nB\nc\nd\n',
      'new.txt': '1\n2\n3\n4\n5\n',
      link: 'a file now\n',
      bin: '\0\x02',
      'long.txt': longLine.repeat(15_000),
      'longer.txt': longLine.repeat(25_000),
    },
  })
  const files = Array.from({ length: manyFiles }, (_, index) => [`many/${index}.txt`, `${index}\n`])
  const many = await work.commit({ files: Object.fromEntries(files) })
  commits = { root, changes, many }
  await work.git('push', '--quiet', harness.remote('owner', project), '--all')
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
})

async function ask(call: string, query: Record<string, string>) {
  const url = `/projects/${project.id}/repository/${call}?${new URLSearchParams(query)}`
  const { status, body } = await harness.ask('reporter', 'GET', url)
  return { status, body }
}
const diff = async (sha: string, query: Record<string, string>): Promise<Entry[]> => {
  const { status, body } = await ask(`commits/${sha}/diff`, query)
  expect(status).toBe(200)
  return body
}

test('the list with line counts has no texts and the same file names as the list with texts', async () => {
  for (const sha of [commits.root, commits.changes]) {
    const [texts, counted] = [await diff(sha, {}), await diff(sha, { stat: 'true' })]
    const plain = (entries: Entry[]) =>
      entries.map(({ diff: _, additions: _a, deletions: _d, too_large: _t, collapsed: _c, ...rest }) => rest)
    expect(plain(counted)).toEqual(plain(texts))
    expect(counted.every((entry) => entry.diff === '' && entry.collapsed && !entry.too_large)).toBe(true)
    expect(texts.every((entry) => !entry.collapsed && entry.additions === undefined)).toBe(true)
  }
  const counts = (await diff(commits.changes, { stat: 'true' })).map((entry) => [
    entry.new_path,
    entry.additions,
    entry.deletions,
  ])
  expect(counts.sort()).toEqual(
    [
      [oddName, 1, 0],
      ['bin', null, null],
      ['gone.txt', 0, 1],
      ['kept.txt', 2, 1],
      ['link', 0, 1],
      ['link', 1, 0],
      ['long.txt', 15_000, 0],
      ['longer.txt', 25_000, 0],
      ['new.txt', 1, 0],
    ].sort(),
  )
})

test('the list with line counts of a commit with thousands of files is complete, and paged on request', async () => {
  const entries = await diff(commits.many, { stat: 'true' })
  expect(entries).toHaveLength(manyFiles)
  expect(entries.every(({ additions, deletions }) => additions === 1 && deletions === 0)).toBe(true)
  const page = await diff(commits.many, { stat: 'true', per_page: '50', page: '2' })
  expect(page).toEqual(entries.slice(50, 100))
})

test('one file has the same text as in the list of all files', async () => {
  for (const sha of [commits.root, commits.changes]) {
    const all = await diff(sha, { unidiff: 'true' })
    for (const entry of all.filter(({ too_large }) => !too_large)) {
      const expected = all.filter(({ new_path }) => new_path === entry.new_path)
      expect(await diff(sha, { path: entry.new_path, unidiff: 'true' })).toEqual(expected)
    }
  }
  const [renamed] = await diff(commits.changes, { path: 'new.txt' })
  expect(renamed).toMatchObject({
    old_path: 'old.txt',
    renamed_file: true,
    diff: '@@ -2,3 +2,4 @@\n 2\n 3\n 4\n+5\n',
  })
  expect(await diff(commits.changes, { path: 'old.txt' })).toEqual([renamed])
  expect(await diff(commits.changes, { path: '/new.txt' })).toEqual([renamed])
  expect(await diff(commits.changes, { path: 'new.txt', stat: 'true' })).toEqual([renamed])
})

test('one file may be longer than in the list of all files, up to a limit', async () => {
  const all = await diff(commits.changes, {})
  const tooLarge = (entries: Entry[], path: string) =>
    entries.find(({ new_path }) => new_path === path)?.too_large
  expect([tooLarge(all, 'long.txt'), tooLarge(all, 'longer.txt')]).toEqual([true, true])
  const [long] = await diff(commits.changes, { path: 'long.txt' })
  expect(long).toMatchObject({
    too_large: false,
    diff: `@@ -0,0 +1,15000 @@\n${`+${longLine}`.repeat(15_000)}`,
  })
  expect(await diff(commits.changes, { path: 'longer.txt' })).toMatchObject([{ too_large: true, diff: '' }])
})

test.each(['nowhere.txt', 'many', '../kept.txt', '*.txt', ':(glob)**', '--output=x'])(
  'the path %j of no changed file finds no file',
  async (path) => {
    expect(await diff(commits.many, { path })).toEqual([])
  },
)

test('a comparison supports line counts and a single file, too', async () => {
  const range = { from: commits.root, to: commits.changes }
  const { diffs } = (await ask('compare', { ...range, stat: 'true' })).body
  expect(diffs).toEqual(await diff(commits.changes, { stat: 'true' }))
  const one = await ask('compare', { ...range, path: 'old.txt' })
  expect(one.body.diffs).toEqual(await diff(commits.changes, { path: 'old.txt' }))
  expect(one.body.commits).toHaveLength(1)
  const longer = await ask('compare', { ...range, path: 'longer.txt' })
  expect(longer.body).toMatchObject({ compare_timeout: true, diffs: [{ too_large: true }] })
})

test('invalid parameters are refused by name', async () => {
  for (const call of [`commits/${commits.root}/diff`, 'compare']) {
    const { status, body } = await ask(call, { from: 'main', to: 'main', stat: 'maybe' })
    expect([status, body.error]).toEqual([400, 'stat is invalid'])
  }
  expect((await ask(`commits/${commits.root}/diff`, { path: 'a\0b' })).status).toBe(400)
  expect((await ask(`commits/${'f'.repeat(40)}/diff`, { path: 'kept.txt' })).status).toBe(404)
})
