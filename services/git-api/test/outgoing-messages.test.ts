import { jobKeyPrefix, queueNames } from '@switchyard/contracts/jobs'
import { createLogger } from '@switchyard/service-kit/observability'
import { createRedis } from '@switchyard/service-kit/redis'
import { startTestRedis, type TestRedis, waitFor } from '@switchyard/testing'
import { Queue } from 'bullmq'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { openOutgoingMessages } from '../src/outgoing-messages.js'

let redis: TestRedis
beforeAll(async () => {
  redis = await startTestRedis()
})
afterAll(() => redis?.stop())

const logger = createLogger('test', 'silent')

async function queuedProjects(): Promise<number[]> {
  const connection = createRedis({ url: redis.url, onError: () => {} })
  const queue = new Queue(queueNames.repositoryHousekeeping, { connection, prefix: jobKeyPrefix })
  const jobs = await queue.getDelayed()
  await queue.close()
  connection.disconnect()
  return jobs.map((job) => job.data.projectId).sort()
}

it('many pushes to a project share one job, and jobs continue when Redis comes back', async () => {
  const { messages } = openOutgoingMessages(redis.urlOf('git-api'), logger, 'default')
  await waitFor(
    async () => {
      for (const projectId of [1, 1, 2]) messages.requestHousekeeping(projectId)
      return (await queuedProjects()).length > 0
    },
    { what: 'a job' },
  )
  await waitFor(async () => (await queuedProjects()).length === 2, { what: 'the second job' })
  expect(await queuedProjects()).toEqual([1, 2])

  await redis.kill()
  for (let count = 0; count < 100; count += 1) messages.requestHousekeeping(3)
  await redis.restart()
  await waitFor(
    async () => {
      messages.requestHousekeeping(4)
      return (await queuedProjects()).includes(4)
    },
    { what: 'a job after the restart' },
  )
  await messages.close()
})

it('the log has the reason why Redis refused a job, and a later outage', async () => {
  const warned = vi.spyOn(logger, 'warn')
  const informed = vi.spyOn(logger, 'info')
  const administrator = createRedis({ url: redis.url, onError: () => {}, enableOfflineQueue: true })
  const { messages, redis: connection } = openOutgoingMessages(redis.urlOf('git-api'), logger, 'default')
  await waitFor(() => connection.status === 'ready', { what: 'a connection' })

  await administrator.config('SET', 'maxmemory', '1')
  messages.requestHousekeeping(5)
  await waitFor(() => warned.mock.calls.length > 0, { what: 'a log line' })
  await administrator.config('SET', 'maxmemory', '0')
  administrator.disconnect()
  const oom = { err: expect.objectContaining({ message: expect.stringMatching(/^OOM command not allowed/) }) }
  expect(warned.mock.calls).toEqual([[oom, 'a Redis command failed']])

  await redis.kill()
  await waitFor(() => warned.mock.calls.length > 1, { what: 'the line of the outage' })
  await redis.restart()
  await waitFor(() => informed.mock.calls.length > 0, { what: 'the line of the end of the outage' })
  expect(warned.mock.lastCall?.[1]).toBe('no connection to Redis: background jobs are dropped')
  expect(informed.mock.calls).toEqual([['connected to Redis again']])
  await messages.close()
})

it('the service closes while Redis is unreachable', async () => {
  const { messages } = openOutgoingMessages('redis://127.0.0.1:1', logger, 'default')
  messages.requestHousekeeping(1)
  await messages.close()
})
