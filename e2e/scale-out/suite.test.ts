import { execa } from 'execa'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Installation, startInstallation } from './support/installation.js'
import { root } from './support/servers.js'

let installation: Installation

// Each file expects an empty installation.
beforeEach(async () => {
  installation = await startInstallation()
})
afterEach(() => installation?.stop())

it.each([
  'e2e/readme-tour.test.ts',
  'e2e/console/console.test.ts',
  'e2e/console/console-more.test.ts',
  'e2e/console/console-work.test.ts',
])('%s passes on two of each service', async (file) => {
  const { failed, all } = await execa('vitest', ['run', '--project', 'e2e', file], {
    cwd: root,
    preferLocal: true,
    reject: false,
    all: true,
    env: {
      SWITCHYARD_E2E_URL: installation.url,
      SWITCHYARD_E2E_GRPC_ADDRESS: installation.grpcAddress,
      SWITCHYARD_E2E_ROOT_TOKEN: installation.rootToken,
      NO_COLOR: '1',
    },
  })
  expect(failed, all).toBe(false)
})
