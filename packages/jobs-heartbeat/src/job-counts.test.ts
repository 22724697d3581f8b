import { expect, it } from 'vitest'
import { JobCounts } from './job-counts.js'

it('counts finished attempts by queue, and forgets them once they were taken', () => {
  const counts = new JobCounts()
  for (const [queue, outcome] of [
    ['mail', 'done'],
    ['mail', 'failed'],
    ['reports', 'done'],
    ['reports', 'returned'],
  ] as const) {
    counts.start()
    counts.end(queue, outcome)
  }
  counts.start()
  expect(counts.busy).toBe(1)
  expect([...counts.take()]).toEqual([
    ['mail', { processed: 2, failed: 1 }],
    ['reports', { processed: 1, failed: 0 }],
  ])
  expect([...counts.take()]).toEqual([])
})

it('adds returned counts to those that came meanwhile', () => {
  const counts = new JobCounts()
  counts.start()
  counts.end('mail', 'failed')
  const taken = counts.take()
  counts.start()
  counts.end('mail', 'done')
  counts.giveBack(taken)
  expect([...counts.take()]).toEqual([['mail', { processed: 2, failed: 1 }]])
})
