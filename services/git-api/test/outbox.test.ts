import { randomUUID } from 'node:crypto'
import { zeroId } from '@switchyard/domain/access'
import { waitFor } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { storeIntents } from '../src/repository/references/store.js'
import { type GitHarness, pushSample, startGitHarness } from './git-harness.js'
import { startGitProcess } from './git-process.js'

let harness: GitHarness

beforeAll(async () => {
  harness = await startGitHarness({ env: { WEBHOOK_ALLOWED_HOSTS: '127.0.0.1' } })
})
afterAll(() => harness?.close())

async function addHook(projectId: number): Promise<void> {
  const { status } = await harness.ask('owner', 'POST', `/projects/${projectId}/hooks`, {
    url: 'http://127.0.0.1:1/',
    push_events: true,
    tag_push_events: true,
  })
  expect(status).toBe(201)
}

async function bodiesOf(projectId: number) {
  const where = { webhook: { projectId } }
  const deliveries = await harness.database.prisma.webhookDelivery.findMany({ where })
  return deliveries.map(({ payload }) => JSON.parse(payload))
}

/** Returns a line for each delivery of a project: event, reference, and the commit after the change. */
const told = async (projectId: number): Promise<string[]> =>
  (await bodiesOf(projectId)).map(({ object_kind, ref, after }) => `${object_kind} ${ref} ${after}`)

/** Runs `work` while deliveries cannot be stored. */
async function withoutDeliveries(work: () => Promise<void>): Promise<void> {
  const client = await harness.database.pool.connect()
  try {
    await client.query('BEGIN; LOCK TABLE webhook_deliveries IN ACCESS EXCLUSIVE MODE')
    await work()
  } finally {
    await client.query('ROLLBACK')
    client.release()
  }
}

test('a change is delivered once, even when the service is killed between the change and its recording', async () => {
  const { project, work, commits } = await pushSample(harness)
  await addHook(project.id)
  const service = await startGitProcess(harness)
  const send = async (method: string, path: string, body?: object) => {
    const response = await harness.send(
      'developer',
      method,
      `/projects/${project.id}/repository${path}`,
      body,
      service.baseUrl,
    )
    expect(response.ok).toBe(true)
    return response.status === 204 ? null : ((await response.json()) as { id: string })
  }
  const expected: string[] = []
  await withoutDeliveries(async () => {
    const actions = [{ action: 'create', file_path: 'told.txt', content: 'x' }]
    const commit = await send('POST', '/commits', { branch: 'main', commit_message: 'm', actions })
    const revert = await send('POST', `/commits/${commit?.id}/revert`, { branch: 'main' })
    await send('POST', `/branches?branch=made&ref=${commits.first}`)
    await send('DELETE', '/branches/feature%2Fx.y')
    await send('POST', `/tags?tag_name=v2&ref=${commits.second}`)
    await send('DELETE', '/tags/v1.0')
    const pushed = await work.commit({ branch: 'pushed', files: { 'pushed.txt': 'x' } })
    const remote = new URL(harness.remote('developer', project))
    remote.port = new URL(service.baseUrl).port
    await work.git('push', '--quiet', '-o', 'ci.skip', remote.href, 'pushed')
    expected.push(
      `push refs/heads/main ${commit?.id}`,
      `push refs/heads/main ${revert?.id}`,
      `push refs/heads/made ${commits.first}`,
      `push refs/heads/feature/x.y ${zeroId}`,
      `tag_push refs/tags/v2 ${commits.second}`,
      `tag_push refs/tags/v1.0 ${zeroId}`,
      `push refs/heads/pushed ${pushed}`,
    )
    await service.kill()
  })

  expect(await harness.database.prisma.intent.count()).toBe(expected.length)
  await harness.database.prisma.intent.updateMany({ data: { dueAt: new Date() } })
  const isOver = async () => (await harness.database.prisma.intent.count()) === 0
  await waitFor(isOver, { what: 'the changes to be told of' })
  expect((await told(project.id)).sort()).toEqual(expected.sort())
  await work.close()
})

test('a change that did not happen is not delivered', async () => {
  const { project, work, commits } = await pushSample(harness)
  await addHook(project.id)
  const ids = [
    { ref: 'refs/heads/main', before: commits.third, after: commits.side },
    { ref: 'refs/heads/none', before: zeroId, after: commits.side },
    { ref: 'refs/heads/main', before: commits.third, after: zeroId },
    { ref: 'refs/tags/v1.0', before: commits.second, after: zeroId },
    // The history of the branch contains this commit, and the branch is where it was before.
    { ref: 'refs/heads/main', before: commits.third, after: commits.first },
  ].map((change) => ({ ...change, event: 'push', id: randomUUID() }))
  const about = {
    user: { id: 1, name: 'n', username: 'u', email: 'e' },
    baseUrl: 'http://x',
    pushOptions: [],
  }
  const stored = await storeIntents(harness.database, ids, {
    projectId: project.id,
    about,
    lookInMs: 0,
  })
  expect(stored).toHaveLength(ids.length)
  // The intents are old enough to be deleted, which shows that they were checked.
  const recordedAt = new Date(Date.now() - 11 * 60_000)
  await harness.database.prisma.intent.updateMany({ data: { recordedAt, dueAt: recordedAt } })
  const isOver = async () => (await harness.database.prisma.intent.count()) === 0
  await waitFor(isOver, { what: 'the changes to be forgotten' })
  expect(await told(project.id)).toEqual([])
  await work.close()
})

test('a change that another request made first, or that git refuses, is forgotten at once', async () => {
  const { project, work, commits } = await pushSample(harness)
  await addHook(project.id)
  const path = `/projects/${project.id}/repository`
  const made = await Promise.all(
    ['tags?tag_name=raced', 'branches?branch=raced'].flatMap((what) =>
      [1, 2, 3].map(() => harness.ask('developer', 'POST', `${path}/${what}&ref=${commits.first}`)),
    ),
  )
  expect(made.map(({ status }) => status).sort()).toEqual([201, 201, 400, 400, 400, 400])
  const actions = [{ action: 'create', file_path: 'raced.txt', content: 'x' }]
  const below = { branch: 'raced/y', start_branch: 'main', commit_message: 'm', actions }
  expect((await harness.ask('developer', 'POST', `${path}/commits`, below)).status).toBe(400)
  const push = work.git('push', '--quiet', harness.remote('developer', project), 'main:refs/heads/raced/x')
  await expect(push).rejects.toThrow()
  expect(await harness.database.prisma.intent.count({ where: { projectId: project.id } })).toBe(0)
  await work.close()
})

test('a new branch is delivered with its own commits, with and without a common history with the default branch', async () => {
  const { project, work, commits } = await pushSample(harness)
  await addHook(project.id)
  await work.git('switch', '--quiet', '--orphan', 'alone')
  const alone = await work.commit({ files: { 'alone.txt': 'a' } })
  await work.git('branch', 'old', commits.first)
  await work.git('push', '--quiet', harness.remote('developer', project), 'alone', 'old')
  await waitFor(async () => (await told(project.id)).length === 2, { what: 'both branches to be told of' })
  const shown = (await bodiesOf(project.id)).map(
    ({
      ref,
      total_commits_count,
      commits: its,
    }: {
      ref: string
      total_commits_count: number
      commits: { id: string }[]
    }) => [ref, total_commits_count, ...its.map(({ id }) => id)],
  )
  expect(shown.sort()).toEqual([
    ['refs/heads/alone', 1, alone],
    ['refs/heads/old', 0],
  ])
  await work.close()
})
