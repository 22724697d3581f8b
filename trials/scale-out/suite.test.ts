import { afterEach, beforeEach, expect, it } from 'vitest'
import { runEndToEnd } from '../support/run-end-to-end.js'
import { type Installation, startInstallation } from './installation/installation.js'
import { network } from './installation/machines.js'

let installation: Installation

// Each file expects an empty installation.
beforeEach(async () => {
  installation = await startInstallation()
})
afterEach(() => installation?.stop())

it.each([
  'trials/end-to-end/readme-tour.test.ts',
  'trials/end-to-end/console/console.test.ts',
  'trials/end-to-end/console/console-more.test.ts',
  'trials/end-to-end/console/console-work.test.ts',
])('%s passes on two of each service', async (file) => {
  const { failed, all } = await runEndToEnd(file, { ...installation, ownAddress: network.own })
  expect(failed, all).toBe(false)
})
