import type { Project } from '@switchyard/db'
import { createGitRepository } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GitHarness, startGitHarness } from '../git-harness.js'
import { type LfsRequests, lfsRequests, type Who } from './lfs-requests.js'

let harness: GitHarness
let project: Project
let ask: LfsRequests['ask']

beforeAll(async () => {
  harness = await startGitHarness()
  project = await harness.project()
  ask = lfsRequests(harness, project).ask
})
afterAll(() => harness?.close())

const refusal = (message: string) => ({ message, request_id: expect.any(String) })

describe('a lock', () => {
  const lock = (who: Who, path: string) => ask(who, 'POST', '/info/lfs/locks', { path })
  const unlock = (who: Who, id: string, fields = {}) =>
    ask(who, 'POST', `/info/lfs/locks/${id}/unlock`, fields)

  test('is held by one user, and removed by that user, or by a maintainer with force', async () => {
    const made = await lock('developer', 'art/a b.psd')
    const id = made.body.lock.id
    const shown = {
      id: expect.stringMatching(/^\d+$/),
      path: 'art/a b.psd',
      locked_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      owner: { name: 'dora' },
    }
    expect([made.status, made.body]).toEqual([201, { lock: shown }])
    const again = await lock('owner', 'art/a b.psd')
    expect([again.status, again.body]).toEqual([409, { lock: shown, ...refusal('already locked') }])
    const other = await lock('owner', 'art/c.psd')
    const denied = await unlock('owner', id)
    expect([denied.status, denied.body]).toEqual([403, refusal("'art/a b.psd' is locked by @dora")])
    const weak = await unlock('developer', other.body.lock.id, { force: true })
    const text = 'You must have maintainer access to force delete a lock'
    expect([weak.status, weak.body]).toEqual([403, refusal(text)])
    expect((await unlock('owner', id, { force: true })).body).toEqual({ lock: shown })
    const gone = await unlock('owner', id)
    expect([gone.status, gone.body]).toEqual([404, refusal('404 Lock Not Found')])
    expect((await unlock('owner', other.body.lock.id)).status).toBe(200)
  })

  test('is found by its path and id, and in pages', async () => {
    const paths = ['p/1', 'p/2', 'p/3']
    const ids: string[] = []
    for (const path of paths) ids.push((await lock('developer', path)).body.lock.id)
    const list = async (query: string) => (await ask('reporter', 'GET', `/info/lfs/locks?${query}`)).body
    const idsOf = ({ locks }: { locks: { id: string }[] }) => locks.map(({ id }) => id)
    expect(idsOf(await list('path=p/2&id=&cursor=&limit=0&refspec=refs/heads/main'))).toEqual([ids[1]])
    expect(idsOf(await list(`id=${ids[2]}`))).toEqual([ids[2]])
    expect(await list('id=nobody')).toEqual({ locks: [] })
    const first = await list(`limit=1&cursor=${Number(ids[0]) - 1}`)
    expect(first).toEqual({ locks: [expect.objectContaining({ path: 'p/1' })], next_cursor: ids[0] })
    const second = await list(`limit=2&cursor=${first.next_cursor}`)
    expect([idsOf(second), second.next_cursor]).toEqual([ids.slice(1), undefined])
    const cursor = String(Number(ids[0]) - 1)
    const verified = (await ask('owner', 'POST', '/info/lfs/locks/verify', { cursor, limit: 2 })).body
    expect([verified.ours, idsOf({ locks: verified.theirs }), verified.next_cursor]).toEqual([
      [],
      ids.slice(0, 2),
      ids[1],
    ])
    const own = (await ask('developer', 'POST', '/info/lfs/locks/verify', { ref: { name: 'x' } })).body
    expect(idsOf({ locks: own.ours })).toEqual(expect.arrayContaining(ids))
  })

  test.each([
    '',
    '/etc/passwd',
    'a/../../b',
    'a//b',
    '.git/config',
    'a\0b',
    'x\n../y',
    'x\r',
    'x'.repeat(2049),
  ])('is refused for the path %j', async (path) => {
    expect((await lock('developer', path)).status).toBe(422)
  })

  test('is held once, however many users request it at the same time', async () => {
    const asked = (['developer', 'owner'] as const).flatMap((who) => [lock(who, 'race'), lock(who, 'race')])
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([201, 409, 409, 409])
  })
})

describe('a push that changes a file with the lock of another user', () => {
  const lock = async (who: Who, path: string) =>
    expect((await ask(who, 'POST', '/info/lfs/locks', { path })).status).toBe(201)

  test('is refused only for lockable files, and only for the branches that change them', async () => {
    const work = await createGitRepository()
    await work.commit({
      files: { '.gitattributes': '*.psd lockable\n', 'art/é.psd': '1', 'mine.psd': '1', 'free.txt': '1' },
    })
    const push = async (who: 'owner' | 'developer', ...refs: string[]) =>
      work.git('push', harness.remote(who, project), ...refs).then(
        () => 'pushed',
        (error: Error) => error.message,
      )
    expect(await push('owner', 'HEAD:refs/heads/locks')).toBe('pushed')
    await lock('owner', 'art/é.psd')
    await lock('owner', 'free.txt')
    await lock('developer', 'mine.psd')

    await work.commit({ files: { 'free.txt': '2', 'mine.psd': '2' } })
    const free = await work.git('rev-parse', 'HEAD')
    await work.commit({ files: { 'art/é.psd': '2' } })
    await work.commit({ files: { 'free.txt': '3' } })
    const text = await push('developer', `${free}:refs/heads/free`, 'HEAD:refs/heads/taken', 'HEAD:locks')
    const reason = "'art/é.psd' is locked in Git LFS by @olga"
    expect(text).toContain(`taken (${reason})`)
    expect(text).toContain(`locks (${reason})`)
    expect(text).not.toContain('free (')
    expect(await work.git('ls-remote', harness.remote('owner', project), 'free', 'taken')).toContain(free)
    expect(await work.git('ls-remote', harness.remote('owner', project), 'taken')).toBe('')

    // Everybody may merge and push the changes that the lock's owner has pushed.
    expect(await push('owner', 'HEAD:refs/heads/locks')).toBe('pushed')
    expect(await push('developer', 'HEAD:refs/heads/taken')).toBe('pushed')
    await work.git('switch', '--quiet', '-c', 'side', free)
    await work.commit({ files: { 'other.txt': '1' } })
    await work.git(
      '-c',
      'user.name=a',
      '-c',
      'user.email=a@example.com',
      'merge',
      '--quiet',
      '--no-edit',
      'main',
    )
    expect(await push('developer', 'HEAD:refs/heads/merged')).toBe('pushed')
    await work.close()
  })

  test('is the only push that stored locks of paths with line breaks can refuse', async () => {
    const own = await harness.project()
    const { id: ownerId } = await harness.database.prisma.user.findFirstOrThrow({
      where: { username: 'olga' },
    })
    const paths = ['x\n\ny', 'x\n/abs', 'x\n../y', '\r', 'art/hero.psd']
    await harness.database.prisma.lfsLock.createMany({
      data: paths.map((path) => ({ projectId: own.id, path, ownerId })),
    })
    const work = await createGitRepository()
    const push = (ref: string) => work.git('push', harness.remote('developer', own), `HEAD:refs/heads/${ref}`)
    await work.commit({ files: { '.gitattributes': '*.psd lockable\n', 'free.psd': '1' } })
    await push('free')
    await work.commit({ files: { 'art/hero.psd': '1' } })
    await expect(push('taken')).rejects.toThrow("'art/hero.psd' is locked in Git LFS by @olga")
    await work.close()
  })
})
