import { syncBuiltinESMExports } from 'node:module'
import { basename, dirname } from 'node:path'
import timers from 'node:timers/promises'
import { isolatedGitEnv } from '@switchyard/testing'
import { execa } from 'execa'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { blameFile } from '../../src/files/blame.js'
import { searchFiles } from '../../src/files/search-files.js'
import { listFolder } from '../../src/files/trees.js'
import { createGit, type Git } from '../../src/git.js'
import type { Repository } from '../../src/repository.js'
import { type BareRepository, createBareRepository } from '../random-history.js'

const fileCount = 7_000
const lineCount = 12_000
/** A file name that is not UTF-8: the text that git stores, one character for each byte, and the shown text. */
const odd = { stored: '\xff', shown: '"\\377"' }

let bare: BareRepository
let git: Git
let repository: Repository
let commitId: string
let treeId: string

beforeAll(async () => {
  bare = await createBareRepository()
  const files = Array.from({ length: fileCount }, (_, index) => `f${index % 50}/${index}`)
  const text = Array.from({ length: lineCount }, (_, index) => `line ${index}\n`).join('')
  const blob = 'blob\nmark :1\ndata 1\nx\n'
  const commit = 'commit refs/heads/main\ncommitter A <a@example.com> 1600000000 +0000\ndata 0\n'
  const long = `M 100644 inline long\ndata ${text.length}\n${text}\n`
  const names = [...files, '"tab\\tin\\tit"', '"\\377"']
  const others = names.map((name) => `M 100644 :1 ${name}\n`).join('')
  await bare.feed(blob + commit + long + others, 'fast-import', '--quiet')
  git = createGit(dirname(bare.path), { cacheBytesMax: 0 })
  repository = git.open({ diskPath: basename(bare.path) })
  const ids = await bare.git('rev-parse', 'main', 'main^{tree}')
  ;[commitId = '', treeId = ''] = ids.split('\n')
})
afterAll(async () => {
  git?.close()
  await bare?.close()
})
// Counts the turns in modules that an earlier test file has loaded, too.
beforeEach(() => {
  vi.spyOn(timers, 'setImmediate')
  syncBuiltinESMExports()
})
afterEach(() => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
})

const list = (window: Parameters<typeof listFolder>[1]['window']) =>
  listFolder(repository, { treeId, folderPath: '', isRecursive: true, window })

/** Returns how often the work let other work of the process have a turn. */
const turns = () => vi.mocked(timers.setImmediate).mock.calls.length

test('a page has the entries of git, wherever it begins', async () => {
  const options = { env: isolatedGitEnv(), extendEnv: false, encoding: 'buffer' } as const
  const { stdout } = await execa('git', [`--git-dir=${bare.path}`, 'ls-tree', '-rtz', 'main'], options)
  const names = Buffer.from(stdout)
    .toString('latin1')
    .split('\0')
    .filter(Boolean)
    .map((line) => line.slice(line.indexOf('\t') + 1))
  const shown = names.map((name) => (name === odd.stored ? odd.shown : name))
  const pathsOf = (page: Awaited<ReturnType<typeof list>>) => page?.entries.map(({ path }) => path)

  expect(pathsOf(await list(undefined))).toEqual(shown)
  for (const start of [0, 1, 5_000, shown.length - 3, shown.length, shown.length + 1]) {
    const page = await list({ skip: start, take: 10 })
    expect([pathsOf(page), page?.total]).toEqual([shown.slice(start, start + 10), shown.length])
    const after = await list({ after: shown[start - 1], take: 10 })
    if (start <= shown.length)
      expect([pathsOf(after), after?.start]).toEqual([shown.slice(start, start + 10), start])
  }
  expect(await list({ after: '"f1"', take: 10 })).toMatchObject({ entries: [], start: null })
})

test('other work goes on while a long folder is listed', async () => {
  await list({ skip: 0, take: 10 })
  expect(turns()).toBeGreaterThanOrEqual(3)
  vi.mocked(timers.setImmediate).mockClear()
  await list(undefined)
  expect(turns()).toBeGreaterThanOrEqual(6)
})

test('other work goes on while many paths are searched', async () => {
  const filters = [
    { pattern: 'f1/*', isNegated: false },
    { pattern: '*9*', isNegated: true },
  ]
  const { found } = await searchFiles(repository, commitId, { text: '', filters })
  const wanted = Array.from({ length: fileCount / 50 }, (_, index) => `f1/${1 + 50 * index}`)
  const paths = wanted.filter((path) => !path.includes('9')).toSorted()
  expect(found.map(({ path }) => path)).toEqual(paths)
  expect(turns()).toBeGreaterThanOrEqual(3)
})

test('other work goes on while many lines of blame are read', async () => {
  const groups = await blameFile(repository, { commitId, path: 'long' })
  const lines = Array.from({ length: lineCount }, (_, index) => `line ${index}`)
  expect(groups).toEqual([{ commitId, lines }])
  expect(turns()).toBeGreaterThanOrEqual(4)
})
