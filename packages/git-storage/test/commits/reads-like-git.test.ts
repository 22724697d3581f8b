import { readdir, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isolatedGitEnv } from '@switchyard/testing'
import { execa } from 'execa'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { type CommitQuery, countAncestors, findCommit, listCommits } from '../../src/commits/read-commits.js'
import { findLastCommitOf } from '../../src/commits/read-last-commit.js'
import type { DiffEntry } from '../../src/diffs/parse-diff.js'
import { readDiff } from '../../src/diffs/read-diff.js'
import { readStats } from '../../src/diffs/read-stats.js'
import { createGit } from '../../src/git.js'
import { tidyRepository } from '../../src/housekeeping/tidy-repository.js'
import type { Repository } from '../../src/repository.js'
import { asTimeAllows } from '../as-time-allows.js'
import { authors, changingHistory, quoted } from '../changing-history.js'
import { type BareRepository, createBareRepository, seededRandom } from '../random-history.js'

const closing: { close: () => unknown }[] = []
afterAll(async () => {
  for (const one of closing) await one.close()
})

/** Creates a repository with a random history, and its readers. */
async function historyOf(seed: number, commits: number) {
  const bare = await createBareRepository()
  const git = createGit(dirname(bare.path))
  closing.push(bare, git)
  await bare.feed(changingHistory(seededRandom(seed), commits), 'fast-import', '--quiet', '--force', '--done')
  // Some lists are read from a graph with filters, others without one.
  if (seed % 3 > 0) await bare.git('commit-graph', 'write', '--reachable', '--changed-paths')
  return { bare, repository: git.open({ diskPath: basename(bare.path) }) }
}

/** Returns the output of git, with one character for each byte. */
async function bytesOf(
  { path }: BareRepository,
  args: string[],
  env: Record<string, string> = {},
  input = '',
) {
  const options = {
    env: { ...isolatedGitEnv(), GIT_LITERAL_PATHSPECS: '1', ...env },
    extendEnv: false,
    encoding: 'buffer',
    stripFinalNewline: false,
    input: Buffer.from(input, 'latin1'),
  } as const
  return Buffer.from((await execa('git', [`--git-dir=${path}`, ...args], options)).stdout).toString('latin1')
}

const linesOf = (text: string) => text.split('\n').filter(Boolean)

const property = (check: (seed: number) => Promise<void>, limitMs: number) =>
  fc.assert(fc.asyncProperty(fc.nat(), asTimeAllows(limitMs, check)), { numRuns: 8, endOnFailure: true })

const rows = { skip: 0, take: 1000 }
const idsOf = ({ commits }: { commits: { id: string }[] }) => commits.map(({ id }) => id)

async function expectList(
  { bare, repository }: { bare: BareRepository; repository: Repository },
  query: Partial<CommitQuery>,
  expected: string[],
) {
  const what = JSON.stringify(query)
  const whole = await listCommits(repository, { revision: 'main', ...query, ...rows })
  expect(idsOf(whole), what).toEqual(expected)
  const page = await listCommits(repository, { revision: 'main', ...query, skip: 3, take: 4 })
  expect(idsOf(page), what).toEqual(expected.slice(3, 7))
  expect([whole.total, page.total], what).toEqual([expected.length, expected.length])
  return bare
}

test('lists are those of git, in its order, for any query', () =>
  property(async (seed) => {
    const both = await historyOf(seed, 40)
    const list = async (...args: string[]) => linesOf(await bytesOf(both.bare, ['rev-list', ...args]))
    const at = (mark: number) => new Date((1_600_000_000 + mark * 60) * 1000)
    const since = at(12)
    const until = at(29)
    const times = [`--since=${since.toISOString()}`, `--until=${until.toISOString()}`]
    await expectList(both, {}, await list('main'))
    await expectList(both, { topological: true }, await list('--topo-order', 'main'))
    await expectList(both, { firstParent: true }, await list('--first-parent', 'main'))
    await expectList(both, { all: true }, await list('--all'))
    await expectList(both, { all: true, firstParent: true }, await list('--all', '--first-parent'))
    await expectList(both, { since, until }, await list(...times, 'main'))
    const some = { since, topological: true, firstParent: true }
    await expectList(both, some, await list(times[0] ?? '', '--topo-order', '--first-parent', 'main'))
    for (const author of [...authors.map((text) => text.slice(0, 5)), '.*', '[b]', 'EXAMPLE.COM'])
      await expectList(both, { author }, await byAuthor(both.bare, author))
  }, 4_000))

test('the number of commits of a tip is right, whichever tip was counted before', () =>
  property(async (seed) => {
    const both = await historyOf(seed, 40)
    const ids = linesOf(await bytesOf(both.bare, ['rev-list', '--all'])).filter((_, index) => index % 7 === 0)
    for (const revision of [...ids, ...ids.reverse()])
      await expectList(both, { revision }, linesOf(await bytesOf(both.bare, ['rev-list', revision])))
  }, 2_000))

test('the number of commits is right after the tip that was counted before has been removed', async () => {
  const { bare, repository } = await historyOf(1, 10)
  const total = async (revision: string) =>
    (await listCommits(repository, { revision, skip: 0, take: 1 })).total
  const gone = await bare.git(
    '-c',
    'user.name=a',
    '-c',
    'user.email=a@x',
    'commit-tree',
    '-p',
    'main',
    '-m',
    'gone',
    'main^{tree}',
  )
  const before = await total('main')
  expect(await total(gone)).toBe(Number(before) + 1)
  await rm(join(bare.path, 'objects', gone.slice(0, 2), gone.slice(2)))
  const parent = await bare.git('rev-parse', 'main~1')
  expect(await total(parent)).toBe(linesOf(await bare.git('rev-list', parent)).length)
})

/**
 * Creates a history of this many commits without merges. Every 400th commit changes a file, which is renamed
 * once.
 */
async function longHistory(commits: number) {
  const bare = await createBareRepository()
  const git = createGit(dirname(bare.path), { cacheBytesMax: 0 })
  closing.push(bare, git)
  const lines = Array.from({ length: commits }, (_, index) => {
    const number = 10_000 + index
    const commit = `commit refs/heads/main\ncommitter A <a@x> ${1_600_000_000 + index} +0000\ndata 0\n`
    const rename = index === 7_000 ? 'R old new\n' : ''
    const file = index < 7_000 ? 'old' : 'new'
    const change = index % 400 === 0 ? `M 100644 inline ${file}\ndata 9\nold ${number}` : ''
    return `${commit}M 100644 inline other\ndata 5\n${number}\n${index === 7_000 ? rename : change}\n`
  })
  await bare.feed(`${lines.join('')}done\n`, 'fast-import', '--quiet', '--done')
  return { bare, repository: git.open({ diskPath: basename(bare.path) }) }
}

const lfsObjectNotes = { listReleased: async () => [], reclaim: async () => {}, forget: async () => [] }

test('more than 10,000 commits are only counted with a bitmap, which housekeeping writes', async () => {
  const { bare, repository } = await longHistory(10_001)
  const totals = async () => [
    (await listCommits(repository, { revision: 'main', skip: 0, take: 1 })).total,
    (await listCommits(repository, { revision: 'main', author: 'A', skip: 0, take: 1 })).total,
    (await listCommits(repository, { revision: 'main~1', skip: 0, take: 1 })).total,
    await countAncestors(repository, { tip: await bare.git('rev-parse', 'main'), firstParent: false }),
  ]
  expect(await totals()).toEqual([null, null, 10_000, 10_001])
  await tidyRepository(bare.path, new AbortController().signal, { lfsObjectNotes })
  expect(await totals()).toEqual([10_001, null, 10_000, 10_001])
  const packs = await readdir(`${bare.path}/objects/pack`)
  expect(packs.filter((name) => /bitmap|rev$/.test(name))).toHaveLength(2)
  await tidyRepository(bare.path, new AbortController().signal, { lfsObjectNotes })
  expect(await readdir(`${bare.path}/objects/pack`)).toEqual(packs)
})

test('a history of more than 10,000 commits has the pages of git log --follow, and a total on its last page', async () => {
  const { bare } = await longHistory(12_000)
  const expected = linesOf(await bare.git('log', '--follow', '--format=%H', 'main', '--', 'new'))
  expect(expected.length).toBeGreaterThan(30)
  const git = createGit(dirname(bare.path))
  closing.push(git)
  const repository = git.open({ diskPath: basename(bare.path) })
  for (const skip of [0, 10, 20, 30, 40, 10]) {
    const page = await listCommits(repository, { revision: 'main', path: 'new', skip, take: 10 })
    expect(idsOf(page), String(skip)).toEqual(expected.slice(skip, skip + 10))
    if (skip >= 30) expect(page.total).toBe(expected.length)
    if (skip === 0) expect(page.total).toBeNull()
  }
})

async function byAuthor(bare: BareRepository, author: string): Promise<string[]> {
  const commits = linesOf(await bytesOf(bare, ['log', '--format=%H %an <%ae>', 'main']))
  const wanted = Buffer.from(author).toString('latin1').toLowerCase()
  return commits
    .filter((line) => line.slice(41).toLowerCase().includes(wanted))
    .map((line) => line.slice(0, 40))
}

test('the commits of a file are those of git log --follow', () =>
  property(async (seed) => {
    const both = await historyOf(seed, 60)
    const names = await bytesOf(both.bare, ['log', '--format=', '--name-only', '-z', 'main'])
    const paths = [...new Set(names.split('\0').map((name) => name.replace(/^\n+/, '')))].filter(isText)
    const byZoe = await byAuthor(both.bare, 'Zoë')
    for (const path of spread(paths, 5)) {
      for (const firstParent of [false, true]) {
        const flags = firstParent ? ['--first-parent'] : []
        const bytes = Buffer.from(path, 'latin1').toString()
        const args = ['log', '--follow', '--format=%H', ...flags, 'main', '--', bytes]
        const expected = linesOf(await bytesOf(both.bare, args))
        await expectList(both, { path: bytes, firstParent }, expected)
        if (firstParent) continue
        const theirs = byZoe.filter((id) => expected.includes(id))
        await expectList(both, { path: bytes, author: 'Zoë' }, theirs)
      }
    }
  }, 4_000))

test('the last commit of a path is that of git rev-list, whatever was asked before', () =>
  property(async (seed) => {
    const { bare, repository } = await historyOf(seed, 60)
    const random = seededRandom(seed)
    const names = await bytesOf(bare, ['log', '--format=', '--name-only', '-z', 'main'])
    const paths = [...new Set(names.split('\0').map((name) => name.replace(/^\n+/, '')))].filter(isText)
    const files = spread(paths, 4).map((path) => Buffer.from(path, 'latin1').toString())
    const ids = linesOf(await bytesOf(bare, ['rev-list', '--all']))
    const pushes = linesOf(await bytesOf(bare, ['rev-list', '--first-parent', '--reverse', 'main']))
    const shuffled = ids.filter(() => random() < 0.5).sort(() => random() - 0.5)
    for (const path of [...files, 'lib', 'lib/']) {
      const answers = new Map<string, string | null>()
      for (const id of [...(random() < 0.5 ? pushes : []), ...shuffled, ...pushes])
        answers.set(id, await findLastCommitOf(repository, id, path))
      for (const [id, answer] of answers) {
        const args = ['rev-list', '--max-count=1', id, '--', path]
        expect(answer, `${id} ${path}`).toBe(linesOf(await bytesOf(bare, args))[0] ?? null)
      }
    }
  }, 4_000))

const isText = (path: string) => path !== '' && !path.includes('\xe9')
const spread = <T>(values: T[], most: number) =>
  values.filter((_value, index) => index % Math.ceil(values.length / most) === 0)

test('git reads objects that are borrowed from elsewhere; hashes of 256 bits are refused', async () => {
  const { bare } = await historyOf(7, 25)
  const borrowing = await createBareRepository()
  const sha256 = await createBareRepository('--object-format=sha256')
  const git = createGit(dirname(bare.path))
  closing.push(borrowing, sha256, git)
  await writeFile(`${borrowing.path}/objects/info/alternates`, `${bare.path}/objects\n`)
  const tip = await bare.git('rev-parse', 'main')
  await borrowing.git('update-ref', 'refs/heads/main', tip)
  const repository = git.open({ diskPath: basename(borrowing.path) })
  const ids = linesOf(await bytesOf(bare, ['rev-list', 'main']))
  await expectList({ bare: borrowing, repository }, {}, ids)
  const lent = git.open({ diskPath: basename(bare.path) })
  expect(await readDiff(repository, tip)).toEqual(await readDiff(lent, tip))

  await sha256.feed(changingHistory(seededRandom(7), 5), 'fast-import', '--quiet', '--force', '--done')
  const other = git.open({ diskPath: basename(sha256.path) })
  expect(await findCommit(other, 'main')).toBeNull()
  expect(await listCommits(other, { revision: 'main', ...rows })).toEqual({ commits: [], total: 0 })
})

test('stats and diffs are those of git, and the diffs lead to the tree', () =>
  property(async (seed) => {
    const { bare, repository } = await historyOf(seed, 30)
    const ids = linesOf(await bytesOf(bare, ['rev-list', '--all']))
    const stats = await readStats(repository, ids)
    const flags = ['--diff-merges=first-parent', '-M', '--full-index', '--format=']
    for (const [index, id] of ids.entries()) {
      const entries = await readDiff(repository, id)
      const shown = await bytesOf(bare, ['show', ...flags, '--patch', id])
      expect(entries.map(bytesOfEntry).join(''), id).toBe(withoutHeaders(shown))
      expect(stats.get(id), id).toEqual(sumOf(await bytesOf(bare, ['show', ...flags, '--numstat', id])))
      if (index % 5 === 0)
        expect([null, await treeOf(bare, id)]).toContain(await treeAfter(bare, id, entries))
    }
  }, 4_000))

const bytesOfEntry = ({ header, patch, encoding }: DiffEntry) =>
  Buffer.from(header + patch, encoding).toString('latin1')

/** Returns a patch from the lines `---` and `+++` on, or from the notice for a binary file. */
function withoutHeaders(text: string): string {
  let within = false
  const kept = text.split(/(?<=\n)/).filter((line) => {
    if (line.startsWith('diff --git ')) within = false
    else if (line.startsWith('--- ') || line.startsWith('Binary files ')) within = true
    return within
  })
  return kept.join('')
}

function sumOf(numstat: string) {
  const sum = { additions: 0, deletions: 0 }
  for (const line of linesOf(numstat)) {
    const [added, removed] = line.split('\t')
    sum.additions += Number(added) || 0
    sum.deletions += Number(removed) || 0
  }
  return sum
}

const treeOf = async (bare: BareRepository, id: string) =>
  (await bytesOf(bare, ['rev-parse', `${id}^{tree}`])).trim()

/**
 * Returns the tree that results when a diff is applied to the first parent. Binary files are copied. Null
 * when git refuses its own patch, which creates a folder where a symbolic link was renamed.
 */
async function treeAfter(bare: BareRepository, id: string, entries: DiffEntry[]): Promise<string | null> {
  const env = { GIT_INDEX_FILE: `${bare.path}/index-${id}` }
  const [, parent] = (await bytesOf(bare, ['rev-list', '--parents', '--max-count=1', id])).trim().split(' ')
  await bytesOf(bare, ['read-tree', parent ?? '--empty'], env)
  const isBinary = ({ patch }: DiffEntry) => patch.startsWith('Binary files ')
  const index = (lines: string[]) =>
    bytesOf(bare, ['update-index', '-z', '--index-info'], env, lines.map((line) => `${line}\0`).join(''))
  const binary = entries.filter(isBinary)
  // Binary files are removed first and added last, because a file of another kind may be at or below their
  // path.
  const before = binary.filter(({ newFile }) => !newFile)
  await index(before.map(({ oldPath }) => `0 ${'0'.repeat(40)}\t${rawName(oldPath)}`))
  const text = entries.filter((entry) => !isBinary(entry)).map(patchOf)
  const flags = ['--cached', '--whitespace=nowarn', '--unidiff-zero', '--allow-empty', '-']
  try {
    await bytesOf(bare, ['apply', ...flags], env, text.join(''))
  } catch (error) {
    if (/is beyond a symbolic link/.test(String(error))) return null
    throw error
  }
  const listed = (await bytesOf(bare, ['ls-tree', '-r', '-z', id])).split('\0')
  const kept = binary.filter(({ deletedFile }) => !deletedFile)
  await index(
    kept.flatMap(({ newPath }) => listed.find((line) => line.endsWith(`\t${rawName(newPath)}`)) ?? []),
  )
  return (await bytesOf(bare, ['write-tree'], env)).trim()
}

/** Returns a whole patch for `git apply`, made only from the fields of the entry. */
function patchOf(entry: DiffEntry): string {
  const [from, to] = [entry.oldPath, entry.newPath].map((name) => quoted(rawName(name)))
  const within = (side: string, name: string | undefined) => `"${side}/${name?.slice(1)}`
  const renamed = entry.renamedFile ? `rename from ${from}\nrename to ${to}\n` : ''
  return `diff --git ${within('a', from)} ${within('b', to)}\n${modesOf(entry)}${renamed}${bytesOfEntry(entry)}`
}

function modesOf({ oldMode, newMode, newFile, deletedFile }: DiffEntry): string {
  if (newFile) return `new file mode ${newMode}\n`
  if (deletedFile) return `deleted file mode ${oldMode}\n`
  return oldMode === newMode ? '' : `old mode ${oldMode}\nnew mode ${newMode}\n`
}

/** Returns the bytes of a name; quoted names are not UTF-8. */
function rawName(name: string): string {
  if (!/^".*\\[0-7]{3}.*"$/s.test(name)) return Buffer.from(name).toString('latin1')
  const inner = name.slice(1, -1)
  const escapes: Record<string, string> = { t: '\t', n: '\n', r: '\r' }
  return inner.replace(/\\(?:([0-7]{3})|(.))/gs, (_all, octal: string | undefined, one: string) =>
    octal === undefined ? (escapes[one] ?? one) : String.fromCharCode(Number.parseInt(octal, 8)),
  )
}
