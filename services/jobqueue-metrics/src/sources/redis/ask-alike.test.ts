import { expect, it } from 'vitest'
import { askAlike, gatherAlike } from './ask-alike.js'
import type { ReadCommand } from './redis-reader.js'

const many = (count: number, command: (key: string) => ReadCommand) =>
  Array.from({ length: count }, (_each, index) => command(`key-${index}`))

it('puts commands together that ask the same, in parts that do not hold up the server, and loses none', () => {
  const commands = Array.from({ length: 101 }).flatMap((_each, index): ReadCommand[] => [
    ['llen', `list-${index}`],
    ['lindex', `list-${index}`, -1],
  ])
  const parts = gatherAlike(commands)
  expect(parts.map(({ question, keys }) => [...question, keys.length])).toEqual([
    ...[50, 50, 1].map((length) => ['llen', length]),
    ...[50, 50, 1].map((length) => ['lindex', -1, length]),
  ])
  const asked = parts.flatMap(({ keys, question: [name, ...rest], places }) =>
    places.map((place, index) => [place, [name, keys[index], ...rest]] as const),
  )
  expect(asked.toSorted(([a], [b]) => a - b).map(([, command]) => command)).toEqual(commands)
  expect(Math.max(...parts.map(({ keys }) => keys.length))).toBeLessThanOrEqual(askAlike.keysMax)
})

it('leaves few commands of a kind as they are', () => {
  const commands = [...many(9, (key) => ['llen', key]), ...many(1, (key) => ['lindex', key, -1])]
  expect(gatherAlike(commands).map(({ keys }) => keys.length)).toEqual(new Array(10).fill(1))
})
