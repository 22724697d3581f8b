import { broadcastBoundaryJob, jobKeyPrefix, queueNames } from '@switchyard/contracts/jobs'
import { bundled, latenessAt, waitFor } from '@switchyard/testing'
import { Queue } from 'bullmq'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type EventStream, openStream } from './event-stream.js'
import { json, startHarness } from './harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let other: Awaited<ReturnType<typeof harness.startReplica>>
let boundaries: Queue
beforeAll(async () => {
  harness = await startHarness()
  const connection = { path: harness.testRedis.path }
  boundaries = new Queue(queueNames.broadcastBoundary, { connection, prefix: jobKeyPrefix })
  other = await harness.startReplica()
})
afterAll(async () => {
  await boundaries?.close()
  await other?.close()
  await harness?.close()
})

/** Starts a worker as a separate process, as it is deployed. */
async function startWorker() {
  const child = execa(process.execPath, [await bundled('services/worker')], {
    env: { ...harness.environment, SWITCHYARD_STORAGE_ROOT: '/tmp', LOG_LEVEL: 'info' },
    reject: false,
    all: true,
    buffer: false,
  })
  return {
    async stop(signal: 'SIGTERM' | 'SIGKILL') {
      child.kill(signal)
      await child
    },
  }
}

/** Returns the number of completed jobs of boundaries. */
const boundaryJobsRun = () => boundaries.getCompletedCount()

/** Resolves when a worker is running and has completed a due job. */
async function workerRunsJobs(): Promise<void> {
  const before = await boundaryJobsRun()
  const { name, data, options } = broadcastBoundaryJob(new Date(), new Date())
  await boundaries.add(name, data, options)
  await waitFor(async () => (await boundaryJobsRun()) > before, { what: 'a worker to run jobs' })
}

async function createMessage(message: string, startsAt: Date, endsAt: Date): Promise<number> {
  const fields = { message, starts_at: startsAt.toISOString(), ends_at: endsAt.toISOString() }
  const response = await harness.send('admin', 'POST', '/broadcast_messages', json(fields))
  expect(response.status).toBe(201)
  return ((await response.json()) as { id: number }).id
}

/** Returns the events of a stream except pings. */
const told = ({ events }: EventStream) => events.filter(({ event }) => event !== 'ping')

it('messages start and end on time for followers of every replica, also after a worker was killed', async () => {
  const streams = await Promise.all(
    [harness.baseUrl, other.baseUrl].map((url) => openStream(`${url}/api/v4/broadcast_messages/stream`)),
  )
  const before = await boundaryJobsRun()
  const startedMs = performance.now()
  const first = await startWorker()
  // One worker plans the jobs, another one runs them.
  await workerRunsJobs()
  // The other worker has twice the time that this one took to start.
  const startsAt = new Date(Date.now() + 1000 + 2 * (performance.now() - startedMs))
  const endsAt = new Date(startsAt.getTime() + 1500)
  const lateness = Promise.all([latenessAt(startsAt), latenessAt(endsAt)])
  const id = await createMessage('On time', startsAt, endsAt)
  await first.stop('SIGKILL')
  const second = await startWorker()
  await workerRunsJobs()

  const due = [startsAt.getTime(), endsAt.getTime() + 1]
  await expect.poll(() => streams.map((stream) => told(stream).length)).toEqual([3, 3])
  const late: number[] = []
  for (const events of streams.map(told)) {
    expect(events.map(({ event, data }) => [event, data.message ?? data.id])).toEqual([
      ['snapshot', undefined],
      ['start', 'On time'],
      ['end', id],
    ])
    late.push(...events.slice(1).map(({ atMs }, index) => atMs - (due[index] ?? 0)))
  }
  for (const lateMs of late) {
    expect(lateMs).toBeGreaterThanOrEqual(0)
    // A tenth of a second on an idle machine.
    expect(lateMs).toBeLessThan(500 + Math.max(...(await lateness)))
  }
  // Its start and end, and the job by which each worker showed that it runs.
  await waitFor(async () => (await boundaryJobsRun()) === before + 4, { what: 'all jobs to be done' })
  for (const stream of streams) stream.close()
  await second.stop('SIGTERM')
})
