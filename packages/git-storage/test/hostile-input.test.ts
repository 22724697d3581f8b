import { access, mkdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isRefName, readActions } from '@switchyard/domain/commit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pickCommit } from '../src/commits/pick-commit.js'
import { findCommit, listCommits } from '../src/commits/read-commits.js'
import { previewCommit, writeCommit } from '../src/commits/write-commit.js'
import { readDiff } from '../src/diffs/read-diff.js'
import { readStats } from '../src/diffs/read-stats.js'
import { readFile } from '../src/files/read-file.js'
import { findFile, hasEntry } from '../src/files/trees.js'
import { createGit, type Git } from '../src/git.js'
import { findBranchTip } from '../src/references/find-refs.js'
import { listReferences } from '../src/references/list-refs.js'
import { keepCommit } from '../src/references/move-refs.js'
import type { Repository } from '../src/repository.js'
import { type BareRepository, createBareRepository } from './random-history.js'

let bare: BareRepository
let git: Git
let repository: Repository
let tip: string

beforeAll(async () => {
  bare = await createBareRepository()
  git = createGit(dirname(bare.path))
  repository = git.open({ diskPath: basename(bare.path) })
  tip = await commit('main', null, 'a', 'text')
})
afterAll(async () => {
  git?.close()
  await bare?.close()
})

const byName = { kind: 'branch', order: 'name', descending: false } as const
const who = { name: 'A', email: 'a@x', seconds: 1_700_000_000, offsetMinutes: 0 }

async function commit(branch: string, parent: string | null, filePath: string, content: string) {
  const edits = readActions([{ action: 'upsert', file_path: filePath, content, encoding: 'text' }])
  const written = { branch, tip: parent, parent, edits, author: who, committer: who, message: 'm' }
  return (await writeCommit(repository, written)).id
}

test('the cost of the folders of a commit depends on their number, not on their depth', async () => {
  const deep = (first: string) => `${first}/${'d/'.repeat(2_000)}f`
  const create = (filePath: string) =>
    ({ action: 'create', file_path: filePath, content: '', encoding: 'text' }) as const
  const actions = Array.from({ length: 20 }, (_, number) => create(deep(`${number}`)))
  const edits = readActions([...actions, create(`g/${'g~1/'.repeat(900)}f`)])
  const diffs = await previewCommit(repository, { parent: null, edits })
  expect(diffs).toHaveLength(21)
  expect(() => readActions(Array.from({ length: 300 }, (_, number) => create(deep(`${number}`))))).toThrow(
    'can have 500000 folders and files together at most',
  )
})

test('a path longer than any file system allows is not found', async () => {
  for (const path of [`a${'/'.repeat(100_000)}a`, 'a/'.repeat(100_000)]) {
    expect(await readFile(repository, tip, path)).toBeNull()
    const { treeId = '' } = (await findCommit(repository, tip)) ?? {}
    expect(await findFile(repository, treeId, path)).toBeNull()
    expect(await hasEntry(repository, treeId, path)).toBe(false)
  }
})

test('an argument longer than the operating system allows is refused, and other questions are answered', async () => {
  const long = 'x'.repeat(200_000)
  const others = Array.from({ length: 5 }, () => listReferences(repository, byName))
  for (const query of [{ path: 'é'.repeat(70_000) }, { author: long }, { message: long }]) {
    await expect(
      listCommits(repository, { revision: 'main', skip: 0, take: 5, ...query }),
    ).rejects.toMatchObject({ kind: 'invalid' })
  }
  expect((await Promise.all(others)).map((found) => found.length)).toEqual([1, 1, 1, 1, 1])
})

test('git never reads a text of a caller as an option, a range, or an expression', async () => {
  const target = join(bare.path, 'injected')
  const hostile = [
    '-n1',
    '--all',
    `--output=${target}`,
    '--upload-pack=touch',
    '--',
    '-',
    'main --all',
    'main\n--all',
    'main..main',
    '^main',
    'main^@',
    'main@{0}',
    'main@{upstream}',
    ':/text',
    'main:a',
    'HEAD^{tree}',
    'main\0',
    '',
    ' ',
    '*',
    'refs/heads/*',
    '../main',
    'main.lock',
    '\u2026',
    '$(touch x)',
    '`id`',
  ]
  for (const name of hostile) {
    expect(await findCommit(repository, name), name).toBeNull()
    expect(await findBranchTip(repository, name), name).toBeNull()
    const listed = await listCommits(repository, { revision: name, skip: 0, take: 5 })
    expect(listed, name).toEqual({ commits: [], total: 0 })
  }
  const paths = [
    `--output=${target}`,
    '-p',
    '--',
    ':(glob)**',
    ':/',
    ':!a',
    '../../etc/passwd',
    '/etc/passwd',
  ]
  for (const path of paths) {
    const listed = await listCommits(repository, { revision: 'main', path, skip: 0, take: 5 })
    expect(listed.commits, path).toEqual([])
    expect(await readFile(repository, tip, path), path).toBeNull()
  }
  const byAuthor = { revision: 'main', author: `--output=${target}`, skip: 0, take: 5 }
  expect((await listCommits(repository, byAuthor)).commits).toEqual([])
  await expect(access(target)).rejects.toThrow()
})

const disguises = [
  '.git',
  '.GIT',
  '.Git',
  '.gIt',
  'git~1',
  'GIT~1',
  '.git.',
  '.git ',
  '.git. . ',
  '.git::$INDEX_ALLOCATION',
  '.git:stream',
  '.g\u200cit',
  '.\u200dGIT',
  '\ufeff.git',
  '.git\u206f',
  '.\u202egit',
  '.gi\u200et',
  '..',
  '.',
  '.git\\x',
  'a\\.git\\config',
  'a\\git~1',
  '.git\u200c\u200d',
  '.git .',
  'git~1.',
  'git~1 ',
]
const harmless = [
  '.gitt',
  'git',
  '.gi',
  'git~2',
  '.gitignore',
  '.github',
  'a.git',
  '. git',
  '.git~1',
  'git~10',
  '...',
  '.git-x',
]

test('every name that git treats as its own folder is refused, and no other', async () => {
  const flagged = await namesGitRefuses([...disguises, ...harmless])
  const refused = new Set<string>()
  for (const name of [...disguises, ...harmless]) {
    for (const path of [name, `x/${name}`, `y/${name}/x`]) {
      await commit('names', await findBranchTip(repository, 'names'), path, 'x').catch((error: unknown) => {
        expect(error).toMatchObject({ kind: 'invalid', extra: { action_index: 0 } })
        refused.add(name)
      })
    }
  }
  expect(flagged).toContain('.GIT')
  expect(flagged.filter((name) => !refused.has(name))).toEqual([])
  expect([...refused].filter((name) => harmless.includes(name))).toEqual([])
  expect(disguises.filter((name) => !refused.has(name))).toEqual([])
  expect(await bare.git('fsck', '--strict', '--no-dangling')).toBe('')
})

/** Returns the names that git's own check refuses in the trees of a push. */
async function namesGitRefuses(names: string[]): Promise<string[]> {
  const scratch = await createBareRepository()
  const blob = await scratch.feed('', 'hash-object', '-w', '--stdin')
  const trees = new Map<string, string>()
  for (const name of names) {
    const id = await scratch.feed(`100644 blob ${blob}\t${name}\0`, 'mktree', '-z').catch(() => null)
    if (id !== null) trees.set(name, id)
  }
  const check = ['-c', 'core.protectHFS=true', '-c', 'core.protectNTFS=true', 'fsck', '--strict']
  const said = await scratch.git(...check).catch(({ stderr }: { stderr: string }) => stderr)
  await scratch.close()
  return names.filter((name) => {
    const id = trees.get(name)
    return id === undefined || new RegExp(`tree ${id}: (?:hasDot|fullPathname)`).test(said)
  })
}

test('a branch may have exactly the names that git accepts, and every such name works', async () => {
  const names = [
    'a',
    'a/b',
    'ü',
    'a-',
    'a@b',
    '@a',
    'a{',
    'A',
    'a.b',
    'x'.repeat(200),
    'a#',
    "a'b",
    'a"b',
    'a$b',
    'a;b',
  ]
  const refusedNames = [
    '-a',
    'a..b',
    'a~',
    'a^',
    'a:',
    'a?',
    'a*',
    'a[',
    'a\\',
    '.a',
    'a/.b',
    'a.lock',
    'a/',
    '/a',
    'a//b',
    'a.',
    'a@{b',
    'a b',
    '\x7f',
    'HEAD',
    '',
  ]
  for (const name of [...names, ...refusedNames]) {
    const taken = await bare.git('check-ref-format', '--branch', name).then(
      () => true,
      () => false,
    )
    expect([name, isRefName(name)]).toEqual([name, taken])
  }
  for (const name of names.filter((candidate) => candidate !== 'a')) {
    const id = await commit(`n/${name}`, null, 'f', 'x')
    expect(await findBranchTip(repository, `n/${name}`)).toBe(id)
    expect(await bare.git('rev-parse', `refs/heads/n/${name}`)).toBe(id)
  }
})

test.each([
  ['.gitmodules', '[submodule "x"]\n\tpath = x\n\turl = -x\n', 'disallowed submodule url: -x'],
  ['a/GITMOD~1', '[submodule "x"]\n\tpath = -x\n\turl = y\n', 'disallowed submodule path: -x'],
  ['.git\u200cmodules', '[submodule ".."]\n\turl = y\n', 'disallowed submodule name: ..'],
  ['a/.gitattributes', 'x'.repeat(3000), '.gitattributes has too long lines to parse'],
  ['a/.gitmodules/b', 'x', 'non-blob found at .gitmodules'],
])(
  '%s is refused as git refuses it in a push, and nothing of it is stored',
  async (path, content, reason) => {
    await expect(commit('settings', null, path, content)).rejects.toMatchObject({
      kind: 'invalid',
      message: `git refuses this file: ${reason}`,
      extra: { action_index: 0, file_path: path },
    })
    expect(await bare.git('fsck', '--strict', '--no-dangling')).toBe('')
  },
)

test('no hook and no program that a stored repository names ever runs', async () => {
  const other = await commit('other', null, 'f', '1\n2\n3\n4\n5\n6\n7\n8\n')
  const hooks = join(bare.path, 'hooks')
  const ran = join(bare.path, 'ran')
  await mkdir(hooks, { recursive: true })
  for (const hook of [
    'reference-transaction',
    'update',
    'pre-receive',
    'post-receive',
    'post-update',
    'pre-commit',
  ])
    await writeFile(join(hooks, hook), `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 })
  const program = join(hooks, 'update')
  for (const [key, value] of Object.entries({
    'diff.external': program,
    'diff.x.textconv': program,
    'diff.x.command': program,
    'core.fsmonitor': program,
    'core.pager': program,
    'core.hooksPath': hooks,
    'core.alternateRefsCommand': program,
    'core.attributesFile': join(bare.path, 'info/attributes'),
    'gpg.program': program,
    'log.showSignature': 'true',
    'merge.default': 'x',
    'merge.x.driver': program,
    'merge.text.driver': program,
    'protocol.ext.allow': 'always',
    'extensions.partialClone': 'x',
    'remote.x.promisor': 'true',
    'remote.x.url': `ext::${program}`,
  }))
    await bare.git('config', key, value)
  await mkdir(join(bare.path, 'info'), { recursive: true })
  await writeFile(join(bare.path, 'info/attributes'), '* diff=x filter=x merge=x\n')
  const fresh = createGit(dirname(bare.path))
  try {
    const reader = fresh.open({ diskPath: basename(bare.path) })
    const one = await commit('hooks', null, 'f', '1\n2\n3\n4\n5\n6\n7\n8\n')
    const ours = await commit('hooks', one, 'f', '1 ours\n2\n3\n4\n5\n6\n7\n8\n')
    const pick = await findCommit(
      reader,
      await commit('other', other, 'f', '1\n2\n3\n4\n5\n6\n7\n8 theirs\n'),
    )
    if (!pick) throw new Error('no commit')
    expect((await readDiff(reader, ours))[0]?.patch).toContain('+1 ours')
    expect((await readStats(reader, [ours])).get(ours)).toMatchObject({ additions: 1 })
    const picked = await pickCommit(reader, {
      branch: 'hooks',
      tip: ours,
      pick,
      author: who,
      committer: who,
      message: 'm',
      isRevert: false,
      dryRun: false,
    })
    expect(picked.outcome).toBe('picked')
    await keepCommit(reader, ours)
    expect(await findCommit(reader, '1'.repeat(40))).toBeNull()
    const signature = 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----'
    const text = (await bare.git('cat-file', 'commit', ours)).replace('\n\n', `\n${signature}\n\n`)
    const signed = await bare.feed(`${text}\n`, 'hash-object', '-t', 'commit', '-w', '--stdin')
    const history = { revision: signed, path: 'f', all: true, skip: 0, take: 9 }
    expect((await listCommits(reader, history)).commits.length).toBeGreaterThan(0)
    expect((await listCommits(reader, { ...history, all: false })).total).toBe(2)
  } finally {
    fresh.close()
  }
  await expect(access(ran)).rejects.toThrow()
})

test('a file of gigabytes that is tiny on the wire takes no memory to compare', async () => {
  const bytes = 80 * 1024 * 1024
  const blob = await bare.feed(Buffer.alloc(bytes, 'a line of text\n'), 'hash-object', '-w', '--stdin')
  const tree = await bare.feed(`100644 blob ${blob}\tbomb\n`, 'mktree')
  const id = await bare.git('-c', 'user.name=a', '-c', 'user.email=a@x', 'commit-tree', '-m', 'bomb', tree)
  const entries = await readDiff(repository, id)
  expect(entries).toHaveLength(1)
  expect(entries[0]).toMatchObject({ newPath: 'bomb', patch: '', tooLarge: true })
  expect(await readFile(repository, id, 'bomb')).toBeNull()
})
