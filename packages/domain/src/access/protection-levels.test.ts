import { expect, test } from 'vitest'
import { changeLevels, lowestLevel, protectionLevelId } from './protection-levels.js'

const idOf = (level: number) => protectionLevelId(7, level)

test.each([
  [[], 0],
  [[0], 0],
  [[0, 40], 40],
  [[40, 30], 30],
])('the lowest of the levels %j that allows something is %i', (levels, lowest) => {
  expect(lowestLevel(levels)).toBe(lowest)
})

test.each([
  ['adds', [{ level: 30, takesAway: false }], [40, 30]],
  ['adds each level once', [{ level: 40, takesAway: false }], [40]],
  ['takes away', [{ id: idOf(40), takesAway: true }], []],
  ['changes', [{ id: idOf(40), level: 0, takesAway: false }], [0]],
  [
    'replaces',
    [
      { level: 30, takesAway: false },
      { id: idOf(40), takesAway: true },
    ],
    [30],
  ],
])('%s', (_what, changes, levels) => {
  expect(changeLevels(7, [40], changes)).toEqual({ levels })
})

test.each([
  [{ takesAway: false }],
  [{ takesAway: true }],
  [{ level: 40, takesAway: true }],
  [{ id: idOf(30), takesAway: true }],
  [{ id: protectionLevelId(8, 40), level: 30, takesAway: false }],
])('a change without a level, or with a level of another protection, is reported: %j', (change) => {
  expect(changeLevels(7, [40], [{ level: 30, takesAway: false }, change])).toEqual({ problem: 1 })
})
