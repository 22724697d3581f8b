import { mkdir, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findCommit, findCommitId, listCommits } from '../../src/commits/read-commits.js'
import { createGit, type Git } from '../../src/git.js'
import { hasNoBranch } from '../../src/references/default-branch.js'
import { findMerged } from '../../src/references/reachable.js'
import type { Repository } from '../../src/repository.js'
import { type BareRepository, createBareRepository } from '../random-history.js'

const signature = ['-c', 'user.name=T', '-c', 'user.email=t@example.com']

/** Creates four commits on main, and references that give the name `main` other meanings to git. */
async function createAmbiguousRepository(): Promise<{ bare: BareRepository; ids: string[] }> {
  const bare = await createBareRepository()
  const tree = await bare.feed('', 'mktree')
  const ids: string[] = []
  for (const message of ['one', 'two', 'three', 'four']) {
    const parents = ids.slice(-1).flatMap((parent) => ['-p', parent])
    ids.push(await bare.git(...signature, 'commit-tree', '-m', message, ...parents, tree))
  }
  const [one = '', two = '', three = '', four = ''] = ids
  await bare.git('update-ref', 'refs/heads/main', four)
  await bare.git(...signature, 'tag', '-a', '-m', 'other', 'main', one)
  for (const name of ['refs/main', 'refs/remotes/main/HEAD', 'refs/tags/refs/heads/gone'])
    await bare.git('update-ref', name, one)
  await bare.git('update-ref', 'refs/heads/twice/deep', three)
  await bare.git('update-ref', 'refs/tags/twice/deep', one)
  await bare.git('update-ref', 'refs/tags/only-tag', two)
  for (const name of ['merge-requests/1/head', 'stash', 'notes/commits', `remotes/${four.slice(0, 8)}`])
    await bare.git('update-ref', `refs/${name}`, one)
  await writeFile(join(bare.path, 'FETCH_HEAD'), `${one}\t\tbranch 'main' of elsewhere\n`)
  await writeFile(join(bare.path, 'main'), `${one}\n`)
  await bare.git('update-ref', '--create-reflog', 'refs/heads/main', four)
  return { bare, ids }
}

describe('revisions', () => {
  let bare: BareRepository
  let ids: string[]
  let git: Git
  let repository: Repository

  beforeAll(async () => {
    ;({ bare, ids } = await createAmbiguousRepository())
    git = createGit(dirname(bare.path))
    repository = git.open({ diskPath: basename(bare.path) })
  })
  afterAll(async () => {
    git?.close()
    await bare?.close()
  })

  async function expectCommit(revision: string, id: string | undefined) {
    expect((await findCommit(repository, revision))?.id, revision).toBe(id)
    expect(await findCommitId(repository, revision), revision).toBe(id ?? null)
    const { commits } = await listCommits(repository, { revision, skip: 0, take: 1 })
    expect(commits[0]?.id, revision).toBe(id)
  }

  test('a branch comes before a tag of the same name, even with steps behind it', async () => {
    expect(await bare.git('rev-parse', '--verify', 'main^{commit}')).toBe(ids[0])
    await expectCommit('main', ids[3])
    await expectCommit('main~1', ids[2])
    await expectCommit('main^^', ids[1])
    await expectCommit('main^{commit}', ids[3])
    await expectCommit('twice/deep', ids[2])
  })

  test('a tag is found by its name, and both are found by their full names', async () => {
    await expectCommit('only-tag', ids[1])
    await expectCommit('only-tag~1', ids[0])
    await expectCommit('refs/tags/main', ids[0])
    await expectCommit('refs/heads/main', ids[3])
    await expectCommit('HEAD', ids[3])
    await expectCommit('@~2', ids[1])
  })

  test('a hash is found by its beginning, whatever references have that name', async () => {
    const [, , three = '', four = ''] = ids
    await expectCommit(four, four)
    await expectCommit(four.toUpperCase(), four)
    await expectCommit(three.slice(0, 7), three)
    await expectCommit(`${three.slice(0, 9)}~1`, ids[1])
    // Git reads this as the reference refs/remotes/<the same letters>, which is not a branch.
    await expectCommit(four.slice(0, 8), undefined)
    await expectCommit(four.slice(0, 9), four)
  })

  test('other references, other spellings and files of git are not revisions', async () => {
    const names = [
      'heads/main',
      'tags/main',
      'refs/main',
      'remotes/main',
      'refs/remotes/main/HEAD',
      'stash',
      'refs/stash',
      'merge-requests/1/head',
      'refs/merge-requests/1/head',
      'notes/commits',
      'FETCH_HEAD',
      'refs/notes/commits',
      'main@{0}',
      'main@{1}',
      '@{-1}',
      ':/two',
      'main^{/two}',
      'main:',
      'twice',
      'refs/heads/gone',
      'refs/heads/twice',
      'refs/tags',
      'gone',
      'abc',
      '0'.repeat(40),
      'main..main',
    ]
    for (const name of names) await expectCommit(name, undefined)
  })

  test('a replacement of an object does not change what is read', async () => {
    const [one = '', , , four = ''] = ids
    await bare.git('update-ref', `refs/replace/${four}`, one)
    await expectCommit('main', four)
    expect((await findCommit(repository, four))?.message).toBe('four\n')
    expect((await listCommits(repository, { revision: 'main', skip: 0, take: 9 })).total).toBe(4)
    const byAuthor = { revision: 'main', author: 't@example', skip: 0, take: 9 }
    expect((await listCommits(repository, byAuthor)).total).toBe(4)
  })
})

test('a repository has no branch again when its last one is deleted, loose or packed', async () => {
  const bare = await createBareRepository()
  const git = createGit(dirname(bare.path))
  const repository = git.open({ diskPath: basename(bare.path) })
  const tree = await bare.feed('', 'mktree')
  const commit = await bare.git(...signature, 'commit-tree', '-m', 'm', tree)
  await bare.git('update-ref', 'refs/changes/1', commit)
  await bare.git('update-ref', 'refs/tags/v1', commit)
  expect(await hasNoBranch(repository)).toBe(true)
  for (const packs of [false, true]) {
    await bare.git('update-ref', 'refs/heads/deep/er', commit)
    if (packs) await bare.git('pack-refs', '--all')
    expect(await hasNoBranch(repository)).toBe(false)
    await bare.git('update-ref', '-d', 'refs/heads/deep/er')
    expect(await hasNoBranch(repository)).toBe(true)
  }
  await mkdir(join(bare.path, 'refs/heads/left'), { recursive: true })
  await writeFile(join(bare.path, 'refs/heads/left/new.lock'), `${commit}\n`)
  await writeFile(join(bare.path, 'refs/heads/left/torn'), '')
  expect(await hasNoBranch(repository)).toBe(true)
  await bare.git('update-ref', 'refs/heads/z', commit)
  expect(await hasNoBranch(repository)).toBe(false)
  git.close()
  await bare.close()
})

test('git decides whether there is a branch when it does not keep references in files', async () => {
  const bare = await createBareRepository()
  const git = createGit(dirname(bare.path))
  await rm(join(bare.path, 'refs/heads'), { recursive: true })
  expect(await hasNoBranch(git.open({ diskPath: basename(bare.path) }))).toBe(true)
  await expect(hasNoBranch(git.open({ diskPath: 'gone.git' }))).rejects.toMatchObject({ kind: 'not-found' })
  git.close()
  await bare.close()
})

test('a branch counts as merged by the listed commit, even when it moves or is unrelated', async () => {
  const bare = await createBareRepository()
  const git = createGit(dirname(bare.path))
  const repository = git.open({ diskPath: basename(bare.path) })
  const tree = await bare.feed('', 'mktree')
  const commit = (message: string, ...parents: string[]) =>
    bare.git(...signature, 'commit-tree', '-m', message, ...parents.flatMap((parent) => ['-p', parent]), tree)
  const old = await commit('old')
  const tip = await commit('tip', old)
  const branches = [
    { name: 'old', target: old },
    { name: 'ahead', target: await commit('ahead', tip) },
    { name: 'unrelated', target: await commit('unrelated') },
    { name: 'same', target: tip },
    { name: 'moved', target: await commit('moved', tip) },
  ]
  for (const { name, target } of branches) await bare.git('update-ref', `refs/heads/${name}`, target)
  await bare.git('update-ref', 'refs/heads/moved', old)
  const merged = ['old', 'same']
  for (let round = 0; round < 2; round += 1)
    expect([...(await findMerged(repository, branches, tip))]).toEqual(merged)
  const seen = branches.map((branch) => (branch.name === 'moved' ? { ...branch, target: old } : branch))
  expect([...(await findMerged(repository, seen, tip))]).toEqual([...merged, 'moved'])
  git.close()
  await bare.close()
})
