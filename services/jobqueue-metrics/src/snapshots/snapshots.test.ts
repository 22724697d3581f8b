import { describe, expect, it } from 'vitest'
import { type SourceSnapshot, shareSource } from '../sources/sources.js'
import { createSnapshots } from './snapshots.js'

const empty: SourceSnapshot = {
  queues: [],
  processes: [],
  jobs: { processed: 0, failed: 0, scheduled: 0, retry: 0, dead: 0, approximate: false },
}

function countingSource(name: string, read: (count: number) => Promise<SourceSnapshot>) {
  const source = { name, reads: 0, read: () => read(++source.reads), close() {} }
  return source
}

const kept = (source: ReturnType<typeof countingSource>, cacheMs: number, deadlineMs = 1000) =>
  createSnapshots([shareSource({ source, cacheMs, deadlineMs })])

describe('snapshots', () => {
  it('are read once for any number of parallel requests', async () => {
    const source = countingSource('test', async () => ({ ...empty }))
    const snapshots = kept(source, 0)
    const all = await Promise.all(Array.from({ length: 1000 }, () => snapshots.read()))
    expect([source.reads, new Set(all).size]).toEqual([1, 1])
  })

  it('serve later requests while they are cached, and no longer', async () => {
    const source = countingSource('test', async () => ({ ...empty }))
    const keeping = kept(source, 60_000)
    expect(await keeping.read()).toBe(await keeping.read('test'))
    expect(source.reads).toBe(1)
    const fresh = kept(source, 0)
    await fresh.read()
    await fresh.read()
    expect(source.reads).toBe(3)
  })

  it('are refused with the name of a failing source, and read again by the next request', async () => {
    const source = countingSource('test', async (count) => {
      if (count === 1) throw new Error('ECONNREFUSED 10.0.0.7')
      return empty
    })
    const snapshots = kept(source, 1000)
    await expect(snapshots.read()).rejects.toMatchObject({
      kind: 'unavailable',
      detail: 'the job queue source test does not answer',
    })
    expect(await snapshots.read()).toMatchObject(empty)
  })

  it('are refused when the source takes too long, while its read continues for later requests', async () => {
    let answer = (_snapshot: SourceSnapshot) => {}
    const reading = new Promise<SourceSnapshot>((resolve) => {
      answer = resolve
    })
    const source = countingSource('test', () => reading)
    const failures: boolean[] = []
    const onRead = (_source: string, _seconds: number, hasFailed: boolean) => failures.push(hasFailed)
    const shared = shareSource({ source, cacheMs: 60_000, deadlineMs: 20, onRead })
    await expect(createSnapshots([shared]).read()).rejects.toMatchObject({ kind: 'unavailable' })
    await expect(shared.read()).rejects.toThrow('no answer within 20 ms')
    expect([source.reads, failures]).toEqual([1, []])
    answer(empty)
    expect(await shared.read()).toMatchObject(empty)
    expect(await shared.read()).toMatchObject(empty)
    expect([source.reads, failures]).toEqual([1, [true]])
  })

  it('of several sources are merged once, and name every source that fails', async () => {
    const good = countingSource('good', async () => ({ ...empty }))
    const [bad, worse] = ['bad', 'worse'].map((name) =>
      countingSource(name, async (count) => {
        if (count > 1) throw new Error('away')
        return empty
      }),
    )
    const sources = [good, bad, worse].filter((source) => source !== undefined)
    const whole = createSnapshots(
      sources.map((source) => shareSource({ source, cacheMs: 0, deadlineMs: 1000 })),
    )
    expect(whole.names).toEqual(['good', 'bad', 'worse'])
    expect(await whole.read()).toMatchObject(empty)
    await expect(whole.read()).rejects.toMatchObject({
      detail: 'the job queue sources bad, worse do not answer',
    })
    expect(await whole.read('good')).toMatchObject(empty)
    await expect(whole.read('other')).rejects.toMatchObject({ kind: 'invalid-parameters' })
  })
})
