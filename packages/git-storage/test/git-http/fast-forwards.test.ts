import { createGitRepository, type TestGitRepository } from '@switchyard/testing'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findFastForwards } from '../../src/git-http/fast-forwards.js'

let work: TestGitRepository
let ids: string[]

/** Creates a history with branches and merges from a fixed seed. */
beforeAll(async () => {
  work = await createGitRepository()
  const first = await work.commit()
  const tree = await work.git('rev-parse', 'HEAD^{tree}')
  ids = [first]
  let seed = 7
  const random = (below: number) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return seed % below
  }
  const env = {
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@x',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@x',
  }
  for (let number = 0; number < 14; number += 1) {
    const parents = new Set([ids[random(ids.length)], ids[random(ids.length)]].slice(0, 1 + random(2)))
    const flags = [...parents].flatMap((id) => ['-p', String(id)])
    const made = await execa('git', ['commit-tree', ...flags, '-m', `${number}`, tree], {
      cwd: work.path,
      env,
    })
    ids.push(made.stdout)
  }
})
afterAll(() => work?.close())

test('finds the moves that lose no commit, as git decides for each alone', async () => {
  const ancestorsOf = new Map<string, Set<string>>()
  for (const id of ids) ancestorsOf.set(id, new Set((await work.git('rev-list', id)).split('\n')))
  const moves = ids.flatMap((before) =>
    ids.filter((_, index) => index % 3 === 2).map((after) => ({ before, after })),
  )
  const expected = moves.filter(({ before, after }) => ancestorsOf.get(after)?.has(before))
  // All moves together, and each alone.
  expect(new Set(await findFastForwards(`${work.path}/.git`, moves))).toEqual(new Set(expected))
  for (const move of moves.slice(0, 6)) {
    expect((await findFastForwards(`${work.path}/.git`, [move])).has(move)).toBe(expected.includes(move))
  }
})

test('a move from or to a missing commit counts as losing commits', async () => {
  const missing = '1'.repeat(40)
  const good = { before: String(ids[0]), after: String(ids[1]) }
  const moves = [good, { before: missing, after: String(ids[1]) }, { before: String(ids[0]), after: missing }]
  expect([...(await findFastForwards(`${work.path}/.git`, moves))]).toEqual([good])
})
