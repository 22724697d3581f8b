import { expect, it } from 'vitest'
import { lineSlices, sliceBytesMax } from './line-slices.js'

const line = `${'x'.repeat(99)}\n`

it.each([
  ['no line', ''],
  ['one line without an end', 'x'],
  ['short lines', line.repeat(30_000)],
  ['short lines and a last line without an end', `${line.repeat(30_000)}x`],
  ['a line longer than a slice', `${line}${'y'.repeat(2.5 * sliceBytesMax)}\n${line}`],
  ['a long last line without an end', `${line}${'y'.repeat(2.5 * sliceBytesMax)}`],
])('slices of %s together are the output, and each ends with a line', async (_name, text) => {
  const slices: string[] = []
  for await (const slice of lineSlices(Buffer.from(text))) slices.push(slice.toString())
  expect(slices.join('') === text).toBe(true)
  expect(slices.slice(0, -1).every((slice) => slice.endsWith('\n'))).toBe(true)
  const long = slices.filter((slice) => slice.length > sliceBytesMax)
  expect(long.some((slice) => slice.slice(0, -1).includes('\n'))).toBe(false)
})

it('others have a turn between two slices', async () => {
  let turns = 0
  let next = setImmediate(function count() {
    turns += 1
    next = setImmediate(count)
  })
  let slices = 0
  for await (const _slice of lineSlices(Buffer.from(line.repeat(50_000)))) slices += 1
  clearImmediate(next)
  expect(slices).toBeGreaterThan(4)
  expect(turns).toBeGreaterThanOrEqual(slices - 1)
})
