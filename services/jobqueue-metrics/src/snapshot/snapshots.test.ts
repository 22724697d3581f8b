import { describe, expect, it } from 'vitest'
import type { SourceSnapshot } from '../sources/job-source.js'
import { createSnapshots } from './snapshots.js'

const empty: SourceSnapshot = {
  queues: [],
  processes: [],
  jobs: { processed: 0, failed: 0, scheduled: 0, retry: 0, dead: 0 },
}

function countingSource(read: (count: number) => Promise<SourceSnapshot>) {
  const source = { name: 'test', reads: 0, read: () => read(++source.reads) }
  return source
}

describe('snapshots', () => {
  it('are read once for any number of requests that come together', async () => {
    const source = countingSource(async () => ({ ...empty }))
    const readSnapshot = createSnapshots({ source, cacheMs: 0, deadlineMs: 1000 })
    const snapshots = await Promise.all(Array.from({ length: 1000 }, readSnapshot))
    expect([source.reads, new Set(snapshots).size]).toEqual([1, 1])
  })

  it('serve later requests for as long as they are kept, and no longer', async () => {
    const source = countingSource(async () => ({ ...empty }))
    const keeping = createSnapshots({ source, cacheMs: 60_000, deadlineMs: 1000 })
    expect(await keeping()).toBe(await keeping())
    expect(source.reads).toBe(1)
    const fresh = createSnapshots({ source, cacheMs: 0, deadlineMs: 1000 })
    await fresh()
    await fresh()
    expect(source.reads).toBe(3)
  })

  it('are refused with the name of the source when it fails, and read anew by the next request', async () => {
    const source = countingSource(async (count) => {
      if (count === 1) throw new Error('ECONNREFUSED 10.0.0.7')
      return empty
    })
    const readSnapshot = createSnapshots({ source, cacheMs: 1000, deadlineMs: 1000 })
    await expect(readSnapshot()).rejects.toMatchObject({
      kind: 'unavailable',
      detail: 'the job queue source test does not answer',
    })
    expect(await readSnapshot()).toBe(empty)
  })

  it('are refused when the source takes too long', async () => {
    const source = countingSource(() => new Promise(() => {}))
    const readSnapshot = createSnapshots({ source, cacheMs: 1000, deadlineMs: 20 })
    await expect(readSnapshot()).rejects.toMatchObject({ kind: 'unavailable' })
  })
})
