import { makeTreeBomb, startTestRedis, type TestRedis, waitFor } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'
import { outcome } from '../harness.js'
import { startHookReceiver } from '../webhooks/hook-receiver.js'
import { startWorkerProcess } from '../worker-process.js'

let redis: TestRedis
let harness: GitHarness
let worker: Awaited<ReturnType<typeof startWorkerProcess>>
let receiver: Awaited<ReturnType<typeof startHookReceiver>>

const env = { WEBHOOK_ALLOWED_HOSTS: '127.0.0.1', GIT_PROCESS_BYTES_MAX: '67108864' }

beforeAll(async () => {
  redis = await startTestRedis()
  harness = await startGitHarness({ redisUrl: redis.urlOf('git-api'), env })
  receiver = await startHookReceiver()
  worker = await startWorkerProcess({
    ...env,
    DATABASE_URL: harness.databaseUrl,
    REDIS_URL: redis.urlOf('worker'),
    SWITCHYARD_STORAGE_ROOT: harness.storageRoot,
  })
})
afterAll(async () => {
  receiver?.close()
  await worker?.close()
  await harness?.close()
  await redis?.stop()
})

const get = (path: string) => outcome(harness.send('owner', 'GET', path))

test('a push of more files than can be compared is accepted, its webhook is sent, and its commit can be read', async () => {
  const { project, work, commits } = await pushSample(harness)
  const hook = { url: receiver.url, push_events: true }
  expect((await harness.send('owner', 'POST', `/projects/${project.id}/hooks`, hook)).status).toBe(201)
  const bomb = await makeTreeBomb(work.path, 'file', commits.third)

  await work.git('push', '--quiet', harness.remote('owner', project), `${bomb}:refs/heads/bomb`)
  await waitFor(() => receiver.received.length > 0, { what: 'the webhook' })
  expect(receiver.received[0]?.json).toMatchObject({
    ref: 'refs/heads/bomb',
    total_commits_count: 1,
    commits: [{ id: bomb, added: [], modified: [], removed: [] }],
  })

  const repository = `/projects/${project.id}/repository/commits`
  for (const query of ['', '?stat=true', '?path=a.txt']) {
    expect(await get(`${repository}/bomb/diff${query}`)).toEqual({
      status: 413,
      body: {
        message: 'The commit changes more than can be compared: git ran out of the memory it may use for it',
      },
    })
  }
  expect(await get(`${repository}/bomb`)).toMatchObject({ status: 200, body: { id: bomb, stats: null } })
  expect(await get(`${repository}?ref_name=bomb&with_stats=true&per_page=2`)).toMatchObject({
    status: 200,
    body: [
      { id: bomb, stats: null },
      { id: commits.third, stats: { additions: 0, deletions: 1, total: 1 } },
    ],
  })
  await work.close()
})
