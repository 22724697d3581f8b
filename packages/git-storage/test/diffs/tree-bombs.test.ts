import { basename, dirname } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { makeTreeBomb } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pickCommit } from '../../src/commits/pick-commit.js'
import { findCommit, listCommits } from '../../src/commits/read-commits.js'
import { readDiff } from '../../src/diffs/read-diff.js'
import { readStats } from '../../src/diffs/read-stats.js'
import { createGit, type Git } from '../../src/git.js'
import type { Repository } from '../../src/repository.js'
import { type BareRepository, createBareRepository } from '../random-history.js'

const limits = { cacheBytesMax: 0, processBytesMax: 64 * 1024 * 1024 }
let bare: BareRepository
let git: Git
let repository: Repository
let small: string
let bomb: string
let onTop: string

/** Answers are not cached here, so that only cached errors are tested. */
beforeAll(async () => {
  bare = await createBareRepository()
  git = createGit(dirname(bare.path), limits)
  repository = git.open({ diskPath: basename(bare.path) })
  small = await commitOf(await bare.feed('', 'mktree'))
  bomb = await makeTreeBomb(bare.path, 'file', small)
  onTop = await commitOf(await bare.git('rev-parse', `${bomb}^{tree}`), bomb)
  await bare.git('update-ref', 'refs/heads/main', onTop)
})
afterAll(async () => {
  git?.close()
  await bare?.close()
})

const commitOf = (tree: string, ...parents: string[]) =>
  bare.git(
    '-c',
    'user.name=a',
    '-c',
    'user.email=a@x',
    'commit-tree',
    '-m',
    'm',
    tree,
    ...parents.flatMap((parent) => ['-p', parent]),
  )

/** Returns whether the answer is cached. No process answers before the event loop continues. */
const isKnown = (work: Promise<unknown>) =>
  Promise.race([
    work.then(
      () => true,
      () => true,
    ),
    setImmediate(false),
  ])

test('a commit with more files than can be compared is refused, other questions are answered meanwhile, and asking again costs nothing', async () => {
  const refused = readDiff(repository, bomb)
  const outcome = refused.catch((error: unknown) => error)
  for (let round = 0; round < 10; round += 1) {
    expect(await readDiff(repository, onTop)).toEqual([])
    expect(await findCommit(repository, 'main')).toMatchObject({ id: onTop })
  }
  expect(await outcome).toMatchObject({
    kind: 'too-large',
    message: expect.stringContaining('more than can be compared'),
  })
  expect(await isKnown(readDiff(repository, bomb))).toBe(true)
  await expect(readDiff(repository, bomb)).rejects.toMatchObject({ kind: 'too-large' })
})

test('stats of a list are those of the commits that can be compared, and null for the others', async () => {
  const none = { additions: 0, deletions: 0 }
  // A comparison that takes too long on a busy machine is tried again.
  await expect
    .poll(async () => Object.fromEntries(await readStats(repository, [onTop, bomb, small])))
    .toEqual({ [onTop]: none, [bomb]: null, [small]: none })
  expect(await isKnown(readStats(repository, [bomb]))).toBe(true)
})

test('a new file that takes more memory than there is keeps its entry, and its commit keeps the other entries', async () => {
  const large = (await bare.feed('0'.repeat(100 * 1024 * 1024), 'hash-object', '-w', '--stdin')).trim()
  const entries = ['large.bin', 'other.bin'].map((name) => `100644 blob ${large}\t${name}\n`)
  const commit = await commitOf((await bare.feed(entries.join(''), 'mktree')).trim(), small)
  const entry = (newPath: string) => ({ newPath, newFile: true, tooLarge: true, patch: '' })
  const expected = [entry('large.bin'), entry('other.bin')]
  expect(await readDiff(repository, commit)).toMatchObject(expected)
  // git words it differently for an object in a pack.
  await bare.git('update-ref', 'refs/heads/large', commit)
  await bare.git('repack', '-adq')
  const again = createGit(dirname(bare.path), limits)
  expect(await readDiff(again.open({ diskPath: basename(bare.path) }), commit)).toMatchObject(expected)
  again.close()
})

test('the history of a file ends at a commit that cannot be compared', async () => {
  const path = '0/1/2/3/4/5/6/7/8/9'
  const { commits } = await listCommits(repository, { revision: 'main', path, skip: 0, take: 9 })
  expect(commits.map(({ id }) => id)).toEqual([bomb])
})

test('a commit of endless empty folders is merged without walking through them', async () => {
  const pick = await findCommit(repository, await makeTreeBomb(bare.path, 'nothing', small))
  if (!pick) throw new Error('no bomb')
  await bare.git('update-ref', 'refs/heads/target', small)
  const committer = { name: 'A', email: 'a@x', seconds: 1_700_000_000, offsetMinutes: 0 }
  const who = { author: committer, committer }
  const request = { branch: 'target', tip: small, pick, ...who, message: 'm', isRevert: false, dryRun: false }
  expect(await pickCommit(repository, request)).toMatchObject({
    outcome: 'picked',
    commit: { treeId: pick.treeId },
  })
})
