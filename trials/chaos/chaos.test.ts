import { expect, it } from 'vitest'
import { runChaos } from './chaos.js'

it('no fault of a process, a network, a disk or a clock loses or duplicates an acknowledged write, and all services recover without an operator', async () => {
  const { survived, problems } = await runChaos({ seed: 1, log: console.log })
  expect(problems).toEqual([])
  expect(survived.length).toBeGreaterThanOrEqual(15)
})
