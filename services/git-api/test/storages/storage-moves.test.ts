import { createHash, randomBytes } from 'node:crypto'
import { access } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { Project } from '@switchyard/db'
import { createGitRepository, waitFor } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { leftCopies } from '../../src/storages/store.js'
import { type StorageName, type StoragesHarness, startStorages, storageNames } from './storages-harness.js'

let harness: StoragesHarness

beforeAll(async () => {
  harness = await startStorages()
})
afterAll(() => harness?.close())

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

/** Returns the number of finished moves to a storage from the metrics of its git-api. */
async function movesOf(storage: StorageName) {
  const text = await (await fetch(`${harness.urlOf(storage)}/metrics`)).text()
  const read = (result: string) =>
    Number(new RegExp(`^git_api_repository_moves_total\\{result="${result}".* (\\d+)$`, 'm').exec(text)?.[1])
  return { moved: read('moved'), failed: read('failed') }
}

/**
 * Starts writers that alternate between both git-api processes, and collects everything that was
 * acknowledged.
 */
function startWriters(project: Project) {
  const commits: string[] = []
  const objects: string[] = []
  const kept: string[] = []
  const statuses = new Set<number>()
  let running = true
  let turn = 0
  const anyStorage = (): StorageName => storageNames[turn++ % 2] as StorageName

  async function commitOn(branch: string): Promise<void> {
    for (let number = 0; running; number += 1) {
      const body = {
        branch,
        start_branch: 'main',
        commit_message: `Commit ${number}`,
        actions: [{ action: 'create', file_path: `${branch}/${number}.txt`, content: String(number) }],
      }
      if (number > 0) Reflect.deleteProperty(body, 'start_branch')
      const path = `/projects/${project.id}/repository/commits`
      const { status, body: answer } = await harness.ask(anyStorage(), 'POST', path, { body })
      statuses.add(status)
      if (status === 201) commits.push(answer.id)
      else number -= 1
    }
  }
  async function pushOn(branch: string): Promise<void> {
    const work = await createGitRepository()
    for (let number = 0; running; number += 1) {
      const id = await work.commit({ branch, files: { [`${branch}.txt`]: String(number) } })
      const remote = harness.remote(anyStorage(), project)
      const pushed = await work.git('push', '--quiet', remote, branch).then(
        () => true,
        () => false,
      )
      if (pushed) commits.push(id)
    }
  }
  async function uploadOn(): Promise<void> {
    while (running) {
      const bytes = randomBytes(20_000)
      const oid = createHash('sha256').update(bytes).digest('hex')
      const url = `${harness.urlOf(anyStorage())}/${project.pathWithNamespace}.git/gitlab-lfs/objects/${oid}/20000`
      const headers = { Authorization: `Basic ${btoa(`any:${harness.tokens.owner}`)}` }
      const response = await fetch(url, { method: 'PUT', headers, body: bytes })
      await response.text()
      statuses.add(response.status)
      if (response.status === 200) objects.push(oid)
      // The pause limits the number of objects, because copying many would exceed the test's time limit.
      await delay(50)
    }
  }
  /** Adds a comment, which keeps its commit under a hidden reference. */
  async function commentOn(): Promise<void> {
    for (let seen = 0; running; ) {
      const sha = commits[seen]
      if (sha === undefined) {
        await delay(5)
        continue
      }
      const path = `/projects/${project.id}/repository/commits/${sha}/comments`
      const { status } = await harness.ask(anyStorage(), 'POST', path, { body: { note: 'Seen' } })
      statuses.add(status)
      if (status === 201) kept.push(sha)
      seen += 1
    }
  }
  const writers = [
    commitOn('first'),
    commitOn('second'),
    pushOn('third'),
    pushOn('fourth'),
    uploadOn(),
    commentOn(),
  ]
  return {
    commits,
    objects,
    kept,
    statuses,
    async stop() {
      running = false
      await Promise.all(writers)
    },
  }
}

test('a move and the move back under load lose no acknowledged commit, push, comment or LFS object', async () => {
  const project = await harness.project('default', 'moved')
  const writers = startWriters(project)
  const more = (least: number) => waitFor(() => writers.commits.length >= least, { what: 'commits' })
  try {
    await more(10)
    for (const to of ['second', 'default'] as const) {
      const { id } = await harness.move(project, to)
      expect(await harness.ended(id)).toMatchObject({ state: 'finished', error: null })
      await more(writers.commits.length + 10)
    }
  } finally {
    await writers.stop()
  }

  const path = harness.pathOf('default', project)
  const { stdout } = await harness.git(path, 'rev-list', '--all')
  const stored = new Set(stdout.split('\n'))
  expect(writers.commits.filter((id) => !stored.has(id))).toEqual([])
  const { stdout: references } = await harness.git(path, 'for-each-ref', '--format=%(refname)')
  expect(writers.kept.filter((id) => !references.includes(`refs/keep-around/${id}`))).toEqual([])
  for (const oid of writers.objects) {
    const object = `${path}/lfs/objects/${oid.slice(0, 2)}/${oid.slice(2, 4)}/${oid}`
    expect([oid, await exists(object)]).toEqual([oid, true])
  }
  const { stderr } = await harness.git(path, 'fsck', '--strict', '--no-dangling')
  expect(stderr).toBe('')
  // Writers are delayed or asked to retry, and see no other failure.
  expect([...writers.statuses].filter((status) => ![200, 201, 503].includes(status))).toEqual([])
  expect([writers.objects.length > 0, writers.kept.length > 0]).toEqual([true, true])
})

test('the former copy of a moved repository is removed after the grace period, and another project is not', async () => {
  const before = await movesOf('second')
  const project = await harness.project('default', 'tidied')
  const neighbour = await harness.project('default', 'neighbour')
  const { id } = await harness.move(project, 'second')
  await harness.ended(id)
  expect(await exists(harness.pathOf('second', project))).toBe(true)
  await waitFor(async () => !(await exists(harness.pathOf('default', project))), {
    what: 'the former copy to go',
  })
  expect(await exists(harness.pathOf('default', neighbour))).toBe(true)
  expect(await movesOf('second')).toEqual({ ...before, moved: before.moved + 1 })
})

test('all former copies are listed, even when many earlier ones could not be removed', async () => {
  const { id: projectId } = await harness.project('default', 'often-moved')
  const finishedAt = new Date()
  const move = {
    projectId,
    diskPath: 'x.git',
    source: 'elsewhere',
    destination: 'default',
    state: 'finished',
  }
  await harness.database.prisma.repositoryStorageMove.createMany({
    data: Array.from({ length: 201 }, () => ({ ...move, finishedAt })),
  })
  const listed: number[] = []
  const later = new Date(finishedAt.getTime() + 1)
  for await (const { id } of leftCopies(harness.database, 'elsewhere', later)) listed.push(id)
  expect(listed).toHaveLength(201)
  expect(new Set(listed).size).toBe(201)
})

test('a process that is killed during a move leaves a usable project, and the next process finishes the move', async () => {
  const project = await harness.project('default', 'killed')
  const commit = (number: number) =>
    harness.ask('default', 'POST', `/projects/${project.id}/repository/commits`, {
      body: {
        branch: 'main',
        commit_message: 'More',
        actions: [{ action: 'create', file_path: `${number}.txt`, content: 'x' }],
      },
    })
  const { id } = await harness.move(project, 'second')
  const arriving = `${harness.pathOf('second', project)}.arriving`
  await waitFor(() => exists(arriving), { what: 'the copy to begin', intervalMs: 2 })
  await harness.kill('second')
  const { storage } = await harness.database.prisma.project.findUniqueOrThrow({ where: { id: project.id } })
  // The kill must come early in the copy, otherwise the test would prove nothing.
  expect(storage).toBe('default')
  const made = await commit(1)
  expect(made.status).toBe(201)
  await harness.restart('second')
  expect(await harness.ended(id)).toMatchObject({ state: 'finished' })
  expect((await commit(2)).status).toBe(201)
  const { stdout } = await harness.git(harness.pathOf('second', project), 'rev-list', 'main')
  expect(stdout.split('\n')).toHaveLength(3)
  expect(stdout).toContain(made.body.id)
})
