import { basename, dirname } from 'node:path'
import { PassThrough } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { waitFor } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findCommit, listCommits } from '../../src/commits/read-commits.js'
import { writeArchive } from '../../src/files/archive.js'
import { createGit, type Git } from '../../src/git.js'
import { runGit, runGitOk } from '../../src/processes/git-process.js'
import { GitSlots } from '../../src/processes/git-slots.js'
import { type BareRepository, createBareRepository, historyStream, seededRandom } from '../random-history.js'

let bare: BareRepository
let other: BareRepository
let git: Git
const gone: AbortController[] = []

beforeAll(async () => {
  bare = await createBareRepository()
  other = await createBareRepository()
  for (const repository of [bare, other]) {
    const stream = historyStream(seededRandom(1), { commits: 5, merges: 0, skewSeconds: 10 })
    await repository.feed(stream, 'fast-import', '--quiet', '--done')
  }
  git = createGit(dirname(bare.path), { cacheBytesMax: 0 })
})
afterAll(async () => {
  for (const one of gone) one.abort()
  git?.close()
  await bare?.close()
  await other?.close()
})

const untilGone = (signal: AbortSignal) => () => delay(60_000, undefined, { signal, ref: false })

/** Occupies a stream until its client goes away. */
function occupyStream(slots: GitSlots, path: string, sender: string): AbortController {
  const leaving = new AbortController()
  gone.push(leaving)
  const { signal } = leaving
  slots.runStream({ path, sender, signal }, untilGone(signal)).catch(() => {})
  return leaving
}

/** Occupies a stream and a process. */
function occupy(slots: GitSlots, path: string, sender: string): AbortController {
  const leaving = occupyStream(slots, path, sender)
  const { signal } = leaving
  slots.runProcess({ path, sender, signal }, 1, untilGone(signal)).catch(() => {})
  return leaving
}

const held = (slots: GitSlots) => ({ processes: slots.processes.count(), streams: slots.streams.count() })

test('a sender that fills its share of git does not delay others, in the same and in other repositories', async () => {
  const { slots } = git
  const attacks = Array.from({ length: 200 }, () => occupy(slots, bare.path, 'attacker'))
  await waitFor(() => slots.processes.count().waiting > 100, { what: 'the attacker to wait' })
  const before = held(slots)
  expect(before.processes.held).toBeGreaterThan(1)
  for (const path of [bare.path, other.path]) {
    const neighbour = git.open({ diskPath: basename(path) }, { sender: 'neighbour' })
    expect(await listCommits(neighbour, { revision: 'HEAD', skip: 0, take: 5 })).toMatchObject({ total: 5 })
    const output = new PassThrough()
    const tip = await findCommit(neighbour, 'HEAD')
    const archive = {
      format: 'tar',
      commitId: tip?.id ?? '',
      treeId: tip?.treeId ?? '',
      folder: 'a',
    } as const
    const written = writeArchive(neighbour, archive, output)
    output.resume()
    await written
  }
  expect(held(slots)).toEqual(before)
  for (const attack of attacks) attack.abort()
  await waitFor(() => held(slots).processes.held + held(slots).streams.held === 0, {
    what: 'slots to be free',
  })
  expect(slots.memory.count()).toEqual({ held: 0, waiting: 0 })
})

test('a sender may have as many streams as the settings allow, and its other questions are answered beside them', async () => {
  const slots = new GitSlots({ streamsMax: 40, streamsPerSenderMax: 20 })
  const clients = Array.from({ length: 30 }, () => occupyStream(slots, bare.path, 'one'))
  await waitFor(() => slots.memory.count().held === 20 * 64 * 1024 ** 2, { what: 'the streams to run' })
  expect(slots.streams.count()).toEqual({ held: 20, waiting: 10 })
  const { code } = await runGit(
    { path: bare.path, sender: 'one', engine: { slots } },
    { command: 'for-each-ref' },
  )
  expect(code).toBe(0)
  for (const client of clients) client.abort()
  await waitFor(() => slots.streams.count().held === 0, { what: 'the streams to end' })
})

test('an answer that needs more memory than usual gets it when the budget allows, and others wait for it', async () => {
  const mebibyte = 1024 ** 2
  const slots = new GitSlots({ memoryBytesMax: 256 * mebibyte, processBytesMax: 192 * mebibyte })
  const context = { path: bare.path, sender: 'one', engine: { slots } }
  const large = (await bare.feed('x'.repeat(60 * mebibyte), 'hash-object', '-w', '--stdin')).trim()
  const patch = { command: 'diff-tree', flags: ['--stdin', '--root', '-p', '--binary'] }
  const tree = (await bare.feed(`100644 blob ${large}\tlarge\n`, 'mktree')).trim()
  const commit = await bare.git('-c', 'user.name=a', '-c', 'user.email=a@x', 'commit-tree', '-m', 'm', tree)
  const ask = () =>
    runGitOk(context, patch, {
      stdin: `${commit}\n`,
      memoryBytesMax: slots.processBytesMax,
      stdoutBytesMax: 1000,
    })
  const answers = await Promise.all([ask(), ask(), ask()])
  for (const { stdout } of answers) expect(stdout.toString('latin1')).toContain(commit)
  await expect(
    runGit(context, patch, { stdin: `${commit}\n`, memoryBytesMax: 64 * mebibyte }),
  ).rejects.toMatchObject({ kind: 'too-large' })
  expect(slots.memory.count()).toEqual({ held: 0, waiting: 0 })
})

test('a process of a request ends when its client goes away, and returns its slot', async () => {
  const leaving = new AbortController()
  const { slots } = git
  const context = { path: bare.path, sender: 'one', signal: leaving.signal, engine: { slots } }
  // A shell alias stands for a command that takes long.
  const settings = { 'alias.wait': '!sleep 60' }
  const asked = runGit(context, { command: 'wait' }, { settings }).catch((error: unknown) => error)
  await waitFor(() => slots.processes.count().held === 1, { what: 'the process to run' })
  leaving.abort(new Error('gone'))
  expect(await asked).toMatchObject({ message: 'gone' })
  expect(slots.processes.count()).toEqual({ held: 0, waiting: 0 })
})

test('a question about all references is asked once, until a reference moves', async () => {
  const cached = createGit(dirname(bare.path))
  const repository = cached.open({ diskPath: basename(bare.path) })
  const query = { revision: 'HEAD', all: true, skip: 0, take: 100, path: 'fresh' }
  expect(await listCommits(repository, query)).toMatchObject({ total: 0 })
  const blob = (await bare.feed('x', 'hash-object', '-w', '--stdin')).trim()
  const tree = (await bare.feed(`100644 blob ${blob}\tfresh\n`, 'mktree')).trim()
  const commit = await bare.git('-c', 'user.name=a', '-c', 'user.email=a@x', 'commit-tree', '-m', 'm', tree)
  await bare.git('update-ref', 'refs/keep-around/x', commit)
  expect(await listCommits(repository, query)).toMatchObject({ total: 0 })
  const { total } = await listCommits(repository, { revision: 'HEAD', all: true, skip: 0, take: 1 })
  await bare.git('update-ref', 'refs/heads/fresh', commit)
  expect(await listCommits(repository, query)).toMatchObject({ total: 1, commits: [{ id: commit }] })
  expect((await listCommits(repository, { revision: 'HEAD', all: true, skip: 0, take: 1 })).total).toBe(
    Number(total) + 1,
  )
  cached.close()
})
