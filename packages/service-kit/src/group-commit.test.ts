import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createGroupCommit, type GroupCommitOptions } from './group-commit.js'

/**
 * Starts a group commit that stores words at once and returns what it was given. A batch with a word of
 * `broken` fails.
 */
function start(options: Partial<GroupCommitOptions<string, string>> = {}, broken: readonly string[] = []) {
  const batches: string[][] = []
  const group = createGroupCommit<string, string>({
    async write(words) {
      batches.push([...words])
      const failing = words.find((word) => broken.includes(word))
      if (failing !== undefined) throw new Error(`cannot write ${failing}`)
      return words.map((word) => word.toUpperCase())
    },
    transactionsMax: 1,
    batch: { itemsMax: 3 },
    queue: { itemsMax: 10 },
    refusal: 'too many words wait',
    ...options,
  })
  const commitAll = (...words: string[]) => Promise.allSettled(words.map((word) => group.commit([word])))
  return { batches, group, commitAll }
}

const stored = (value: string) => ({ status: 'fulfilled', value: [value] })

describe('createGroupCommit', () => {
  it('writes waiting items together, in their order, in batches up to the largest size', async () => {
    const { batches, commitAll } = start()
    expect(await commitAll('a', 'b', 'c', 'd')).toEqual(['A', 'B', 'C', 'D'].map(stored))
    expect(batches).toEqual([['a', 'b', 'c'], ['d']])
  })

  it('keeps the items of a call together, even when they exceed the largest batch', async () => {
    const { batches, group } = start()
    const calls = [group.commit(['a']), group.commit(['b', 'c', 'd', 'e']), group.commit(['f'])]
    expect(await Promise.all(calls)).toEqual([['A'], ['B', 'C', 'D', 'E'], ['F']])
    expect(batches).toEqual([['a'], ['b', 'c', 'd', 'e'], ['f']])
  })

  it('halves a failed batch until the faulty calls are alone, so that only they fail', async () => {
    const { batches, commitAll } = start({ batch: { itemsMax: 6 } }, ['b'])
    expect(await commitAll('a', 'b', 'c', 'd', 'e', 'f', 'g')).toMatchObject([
      stored('A'),
      { status: 'rejected', reason: { message: 'cannot write b' } },
      ...['C', 'D', 'E', 'F', 'G'].map(stored),
    ])
    expect(batches.map((words) => words.join(''))).toEqual(['abcdef', 'abc', 'ab', 'a', 'b', 'c', 'def', 'g'])
  })

  it('halves between subjects first, so that calls which fail together do not split the others', async () => {
    const { batches, commitAll } = start(
      {
        batch: { itemsMax: 8 },
        subjectOf: (word) => word.length,
        failsEveryCall: (_error, words) => new Set(words.map(({ length }) => length)).size === 1,
      },
      ['xx', 'yy', 'zz'],
    )
    const outcomes = await commitAll('a', 'xx', 'b', 'yy', 'c', 'zz', 'd')
    const isStored = outcomes.map(({ status }) => status === 'fulfilled')
    expect(isStored).toEqual([true, false, true, false, true, false, true])
    expect(batches).toEqual([
      ['a', 'xx', 'b', 'yy', 'c', 'zz', 'd'],
      ['a', 'b', 'c', 'd'],
      ['xx', 'yy', 'zz'],
    ])
  })

  it('fails a batch at once when each of its calls would fail alone, too', async () => {
    const { batches, commitAll } = start({ failsEveryCall: () => true }, ['b'])
    const outcomes = await commitAll('a', 'b', 'c', 'd')
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected', 'fulfilled'])
    expect(batches).toEqual([['a', 'b', 'c'], ['d']])
  })

  it('refuses a call that does not fit the queue, by items and by bytes', async () => {
    for (const queue of [{ itemsMax: 2 }, { itemsMax: 10, bytesMax: 4 }]) {
      const { commitAll } = start({ queue, bytesOf: (word) => word.length })
      expect(await commitAll('aa', 'bb', 'cc')).toMatchObject([
        stored('AA'),
        stored('BB'),
        { status: 'rejected', reason: { kind: 'unavailable', message: 'too many words wait' } },
      ])
    }
  })

  it('does not write items whose caller has given up before their turn', async () => {
    const { batches, group, commitAll } = start()
    const left = group.commit(['left'], () => true)
    const others = commitAll('a')
    await expect(left).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'the call ended before it was written',
    })
    expect(await others).toEqual([stored('A')])
    expect(batches).toEqual([['a']])
  })

  it('begins a further transaction only when enough items wait, and divides them among the possible transactions', async () => {
    const sizes: number[] = []
    const finish: (() => void)[] = []
    const { group } = start({
      write: (words) => {
        sizes.push(words.length)
        return new Promise((resolve) => finish.push(() => resolve(words)))
      },
      transactionsMax: 2,
      furtherTransactionItemsMin: 3,
      batch: { itemsMax: 100 },
      queue: { itemsMax: 100 },
    })
    const commit = (count: number) => Array.from({ length: count }, () => group.commit(['word']))
    const calls = commit(2)
    await nextTurn()
    calls.push(...commit(2))
    await nextTurn()
    expect(sizes).toEqual([2])
    calls.push(...commit(6))
    await nextTurn()
    expect(sizes).toEqual([2, 8])
    finish[0]?.()
    calls.push(...commit(8))
    await nextTurn()
    expect(sizes).toEqual([2, 8, 8])
    for (const end of finish) end()
    expect(await Promise.all(calls)).toHaveLength(18)
  })

  it('closes after every accepted call is answered, and accepts none from then on', async () => {
    const { group, commitAll } = start()
    const taken = commitAll('a', 'b', 'c', 'd')
    const closing = group.close()
    await expect(group.commit(['late'])).rejects.toMatchObject({ kind: 'unavailable' })
    await closing
    expect(await taken).toEqual(['A', 'B', 'C', 'D'].map(stored))
  })
})
