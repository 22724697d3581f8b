import { randomBytes } from 'node:crypto'
import { access, readdir, utimes, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type CommitAction, readActions } from '@switchyard/domain/commit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pickCommit } from '../../src/commits/pick-commit.js'
import { findCommit } from '../../src/commits/read-commits.js'
import { writeCommit } from '../../src/commits/write-commit.js'
import { createGit, type Git } from '../../src/git.js'
import { findBranchTip } from '../../src/references/find-refs.js'
import type { Repository } from '../../src/repository.js'
import { type BareRepository, createBareRepository } from '../random-history.js'

/** Two engines on one storage, like those of two processes of the service. */
let bare: BareRepository
let engines: Git[]
let repositories: Repository[]

beforeAll(async () => {
  bare = await createBareRepository()
  engines = [createGit(dirname(bare.path)), createGit(dirname(bare.path))]
  repositories = engines.map((git) => git.open({ diskPath: basename(bare.path) }))
  await commit(0, 'main', null, [create('README', 'read me')])
})
afterAll(async () => {
  for (const git of engines ?? []) git.close()
  await bare?.close()
})

const who = { name: 'A', email: 'a@x', seconds: 1_700_000_000, offsetMinutes: 0 }
const create = (file_path: string, content: string | Buffer): CommitAction =>
  typeof content === 'string'
    ? { action: 'create', file_path, content, encoding: 'text' }
    : { action: 'create', file_path, content: content.toString('base64'), encoding: 'base64' }

function repositoryOf(engine: number): Repository {
  const repository = repositories[engine % repositories.length]
  if (!repository) throw new Error('no engine')
  return repository
}

async function commit(engine: number, branch: string, tip: string | null, actions: CommitAction[]) {
  const repository = repositoryOf(engine)
  const parent = tip ?? (await findBranchTip(repository, 'main'))
  return writeCommit(repository, {
    branch,
    tip,
    parent,
    author: who,
    committer: who,
    message: `by ${engine}`,
    edits: readActions(actions),
  })
}

const packs = async () =>
  (await readdir(join(bare.path, 'objects/pack'))).filter((name) => name.endsWith('.pack'))

test('a thousand files, including large ones, are stored in one pack and read back byte for byte', async () => {
  const before = (await packs()).length
  const large = [randomBytes(3_000_000), Buffer.alloc(5_000_000, 'abc\n'), randomBytes(1024 * 1024)]
  const small = Array.from({ length: 997 }, (_, index) =>
    create(`d${index % 40}/${index}`, `file ${index}\n`),
  )
  const { id } = await commit(0, 'large', null, [
    ...small,
    ...large.map((bytes, index) => create(`large/${index}`, bytes)),
  ])
  expect((await packs()).length).toBe(before + 1)
  expect(await bare.git('fsck', '--strict', '--no-dangling', '--full')).toBe('')
  expect((await bare.git('ls-tree', '-r', '--name-only', id)).split('\n')).toHaveLength(1001)
  for (const [index, bytes] of large.entries()) {
    expect(await bare.git('rev-parse', `${id}:large/${index}`)).toBe(
      await bare.feed(bytes, 'hash-object', '--stdin'),
    )
  }
  expect(await bare.git('show', `${id}:d7/447`)).toBe('file 447')
  expect((await findCommit(repositoryOf(1), 'large'))?.id).toBe(id)
})

test('large commits that race for one branch all succeed, each packed once', async () => {
  const before = (await packs()).length
  const { id: start } = await commit(0, 'race', null, [create('start', 's')])
  const files = (name: string) =>
    Array.from({ length: 50 }, (_, file) => create(`${name}/${file}`, `${name} ${file}`))
  await Promise.all(['a', 'b', 'c', 'd'].map((name, engine) => commit(engine, 'race', start, files(name))))
  expect(await bare.git('rev-list', '--count', `${start}..race`)).toBe('4')
  expect((await bare.git('ls-tree', '-r', '--name-only', 'race')).split('\n')).toHaveLength(202)
  expect((await packs()).length).toBe(before + 4)
})

test('commits and cherry-picks of two processes to one branch all succeed, and each sees the commits of the other at once', async () => {
  const { id: start } = await commit(0, 'both', null, [create('start', 's')])
  const picks = await Promise.all(
    [0, 1, 2].map((n) => commit(n, `pick-${n}`, null, [create(`picked/${n}`, 'p')])),
  )
  await Promise.all([
    ...[0, 1, 2, 3, 4, 5].map((n) => commit(n, 'both', start, [create(`made/${n}`, `${n}`)])),
    ...picks.map((pick, n) =>
      pickCommit(repositoryOf(n), {
        branch: 'both',
        tip: start,
        pick,
        author: who,
        committer: who,
        message: `pick ${n}`,
        isRevert: false,
        dryRun: false,
      }),
    ),
  ])
  const tips = await Promise.all(repositories.map((repository) => findBranchTip(repository, 'both')))
  expect(tips).toEqual([await bare.git('rev-parse', 'both'), await bare.git('rev-parse', 'both')])
  expect(await bare.git('rev-list', '--count', `${start}..both`)).toBe('9')
  expect((await bare.git('ls-tree', '-r', '--name-only', 'both')).split('\n')).toHaveLength(11)
  expect(await bare.git('fsck', '--strict', '--no-dangling')).toBe('')
})

test('ten writers that never pause rarely try a commit to their branch in vain', async () => {
  await commit(0, 'busy', null, [create('start', 's')])
  const [writers, each] = [10, 8]
  let attempts = 0
  const recordIntent = async () => {
    attempts += 1
    return async () => {}
  }
  const write = async (writer: number) => {
    for (let number = 0; number < each; number += 1) {
      const tip = (await findBranchTip(repositoryOf(0), 'busy')) ?? null
      await writeCommit(repositoryOf(0), {
        branch: 'busy',
        tip,
        parent: tip,
        author: who,
        committer: who,
        message: `by ${writer}`,
        recordIntent,
        edits: readActions([create(`${writer}/${number}`, 'b')]),
      })
    }
  }
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)))
  // Each writer may lose its first race.
  expect(attempts).toBeLessThanOrEqual(writers * each + 2 * writers)
})

test('of two processes that create one branch, one creates it and the other is refused', async () => {
  const results = await Promise.allSettled(
    [0, 1].map((n) => commit(n, 'new', null, [create(`${n}`, `${n}`)])),
  )
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  const refused = results.find((result) => result.status === 'rejected')
  expect(refused?.reason).toMatchObject({ kind: 'conflict' })
})

test('the lock of a killed process does not block its branch for ever, and a fresh lock is respected', async () => {
  const { id: tip } = await commit(0, 'locked', null, [create('a', 'a')])
  const lock = join(bare.path, 'refs/heads/locked.lock')
  await writeFile(lock, '')
  await expect(commit(0, 'locked', tip, [create('b', 'b')])).rejects.toMatchObject({ kind: 'unavailable' })
  await access(lock)
  await utimes(lock, new Date(0), new Date(0))
  const { id } = await commit(1, 'locked', tip, [create('b', 'b')])
  expect(await bare.git('rev-parse', 'locked')).toBe(id)
})

test('a branch cannot have the name of a folder of other branches', async () => {
  await commit(0, 'folder/one', null, [create('a', 'a')])
  const refused = { kind: 'invalid', message: expect.stringContaining('Branch name is invalid') }
  await expect(commit(0, 'folder', null, [create('a', 'a')])).rejects.toMatchObject(refused)
  await expect(commit(0, 'folder/one/two', null, [create('a', 'a')])).rejects.toMatchObject(refused)
  await bare.git('pack-refs', '--all')
  await expect(commit(0, 'folder', null, [create('a', 'a')])).rejects.toMatchObject(refused)
})
