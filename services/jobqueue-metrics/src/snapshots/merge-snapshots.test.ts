import { expect, it } from 'vitest'
import type { QueueMetrics, SourceSnapshot, WorkerProcess } from '../sources/sources.js'
import { mergeSnapshots } from './merge-snapshots.js'

const queue = (name: string, metrics: Partial<QueueMetrics> = {}): QueueMetrics => ({
  name,
  backlog: 0,
  latencySeconds: 0,
  paused: false,
  busy: 0,
  processed: 0,
  failed: 0,
  ...metrics,
})
const jobs = { processed: 10, failed: 1, scheduled: 2, retry: 3, dead: 4, approximate: false }

it('merged snapshots have the sum of backlogs and totals, the longest latency, and all processes', () => {
  const process = (identity: string) => ({ identity }) as WorkerProcess
  const snapshots: SourceSnapshot[] = [
    {
      queues: [queue('mail', { backlog: 2, latencySeconds: 9, paused: true }), queue('zebra')],
      processes: [process('a')],
      jobs,
    },
    {
      queues: [queue('alpha'), queue('mail', { backlog: 3, latencySeconds: 4 })],
      processes: [process('b')],
      jobs: { ...jobs, approximate: true },
    },
  ]
  expect(mergeSnapshots(snapshots)).toEqual({
    queues: [queue('alpha'), queue('mail', { backlog: 5, latencySeconds: 9 }), queue('zebra')],
    processes: [process('a'), process('b')],
    jobs: { processed: 20, failed: 2, scheduled: 4, retry: 6, dead: 8, approximate: true },
  })
})

it('a sum is unknown when one of its values is unknown', () => {
  const part = (busy: number | null): SourceSnapshot => ({
    queues: [queue('mail', { busy })],
    processes: [],
    jobs,
  })
  expect(mergeSnapshots([part(2), part(null)]).queues).toEqual([queue('mail', { busy: null })])
})
