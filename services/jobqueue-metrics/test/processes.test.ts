import { hostname } from 'node:os'
import { queueNames, registryKeys } from '@switchyard/contracts/jobs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startHarness } from './harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>
beforeEach(async () => {
  harness = await startHarness()
})
afterEach(() => harness.close())

const processes = async () => (await harness.metrics('/jobqueue/process_metrics')).processes

it('shows a real worker with the eight fields in order, and what it did, until it stops', async () => {
  const worker = await harness.startWorker()
  await expect.poll(processes, { timeout: 20_000 }).toHaveLength(1)
  const [shown] = await processes()
  expect(Object.keys(shown ?? {})).toEqual([
    'hostname',
    'pid',
    'tag',
    'started_at',
    'queues',
    'labels',
    'concurrency',
    'busy',
  ])
  expect(shown).toMatchObject({
    hostname: hostname(),
    pid: worker.pid,
    tag: 'test',
    labels: [],
    concurrency: 4,
  })
  expect(shown?.queues.toSorted()).toEqual(Object.values(queueNames).toSorted())
  expect(Math.abs(Date.now() - Date.parse(shown?.started_at ?? ''))).toBeLessThan(30_000)
  expect(shown?.started_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

  // The partitions job of the start, then one good and one bad job of ours, are in the totals after a beat.
  const queue = await harness.queue('repository-housekeeping')
  await queue.add('repository-housekeeping', { projectId: 1 })
  await queue.add('repository-housekeeping', { projectId: -1 })
  await expect
    .poll(async () => (await harness.metrics()).jobs, { timeout: 15_000 })
    .toMatchObject({ processed: 3, failed: 1, dead: 1, enqueued: 0, scheduled: 2 })
  expect(Object.keys((await harness.metrics()).queues)).toEqual(Object.values(queueNames).sort())

  await worker.stop()
  expect(await processes()).toEqual([])
  expect(Object.keys((await harness.metrics()).queues)).toEqual(Object.values(queueNames).sort())
})

it('shows a killed worker for as long as its last beat counts, and no ghost after it', async () => {
  const worker = await harness.startWorker()
  await expect.poll(processes, { timeout: 20_000 }).toHaveLength(1)
  await worker.stop('SIGKILL')
  expect(await processes()).toHaveLength(1)
  const [id = ''] = await harness.redis.zrange(registryKeys.processes, '0', '-1')
  await harness.redis.zadd(registryKeys.processes, Date.now() - 61_000, id)
  expect(await processes()).toEqual([])
})

it('skips members without a hash, and hashes nobody can read', async () => {
  for (const id of ['ghost:1:a', 'broken:2:b', 'other:3:c']) {
    await harness.redis.zadd(registryKeys.processes, Date.now(), id)
  }
  await harness.redis.hset(registryKeys.process('broken:2:b'), { info: '{"hostname":', busy: '1' })
  await harness.redis.hset(registryKeys.process('other:3:c'), { info: '{"pid":"three"}' })
  expect(await processes()).toEqual([])
})
