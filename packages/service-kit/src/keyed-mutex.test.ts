import { setImmediate as nextTick } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KeyedMutex } from './keyed-mutex.js'

describe('KeyedMutex', () => {
  it('runs the tasks of a key one at a time and in order, even when some fail, and forgets the key at the end', async () => {
    const job = fc.record({
      key: fc.constantFrom('one', 'two', 'three'),
      fails: fc.boolean(),
      ticks: fc.nat({ max: 3 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(job, { maxLength: 20 }), async (jobs) => {
        const mutex = new KeyedMutex()
        const running = new Set<string>()
        const done: number[] = []
        const results = jobs.map(({ key, fails, ticks }, number) =>
          mutex.run(key, async () => {
            expect(running.has(key)).toBe(false)
            running.add(key)
            for (let tick = 0; tick < ticks; tick += 1) await nextTick()
            running.delete(key)
            done.push(number)
            if (fails) throw new Error(key)
            return number
          }),
        )
        const settled = await Promise.allSettled(results)
        expect(settled.map(({ status }) => status)).toEqual(
          jobs.map(({ fails }) => (fails ? 'rejected' : 'fulfilled')),
        )
        for (const key of ['one', 'two', 'three']) {
          const ofKey = (number: number) => jobs[number]?.key === key
          expect(done.filter(ofKey)).toEqual([...jobs.keys()].filter(ofKey))
          expect(mutex.isLocked(key)).toBe(false)
        }
      }),
    )
  })

  it('runs tasks of different keys at the same time', async () => {
    const mutex = new KeyedMutex()
    void mutex.run('held', () => new Promise(() => {}))
    expect(await mutex.run('free', async () => 'done')).toBe('done')
    expect([mutex.isLocked('held'), mutex.isLocked('free')]).toEqual([true, false])
  })

  it('does not begin a task whose signal was aborted while it waited', async () => {
    const mutex = new KeyedMutex()
    const first = mutex.run('key', () => nextTick())
    const leaving = new AbortController()
    const begun: string[] = []
    const second = mutex.run('key', async () => begun.push('second'), leaving.signal)
    const third = mutex.run('key', async () => 'third')
    leaving.abort(new Error('gone'))
    await first
    await expect(second).rejects.toThrow('gone')
    expect([await third, begun]).toEqual(['third', []])
  })
})
