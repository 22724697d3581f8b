import { expect, test } from 'vitest'
import { deleteInBatches } from './sweeps.js'

test('batches are deleted until one is not full', async () => {
  let left = 25
  const deleteSome = async (rowsMax: number) => {
    const rows = Math.min(rowsMax, left)
    left -= rows
    return rows
  }
  expect(await deleteInBatches(10, () => true, deleteSome)).toBe(25)
})

test('no further batch begins when the run may not continue', async () => {
  expect(
    await deleteInBatches(
      10,
      () => false,
      async () => 10,
    ),
  ).toBe(10)
})
