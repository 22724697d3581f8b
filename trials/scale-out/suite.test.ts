import { execa } from 'execa'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Installation, startInstallation } from './installation/installation.js'
import { network } from './installation/machines.js'
import { root } from './installation/servers.js'

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
  const { failed, all } = await execa('vitest', ['run', '--project', 'end-to-end', file], {
    cwd: root,
    preferLocal: true,
    reject: false,
    all: true,
    env: {
      SWITCHYARD_E2E_URL: installation.url,
      SWITCHYARD_E2E_GRPC_ADDRESS: installation.grpcAddress,
      SWITCHYARD_E2E_ROOT_TOKEN: installation.rootToken,
      SWITCHYARD_E2E_OWN_ADDRESS: network.own,
      NO_COLOR: '1',
    },
  })
  expect(failed, all).toBe(false)
})
