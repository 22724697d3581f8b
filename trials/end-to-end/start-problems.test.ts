import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { getFreePort } from '../../packages/local-servers/src/process/free-port.js'
import { olderNodeEnvironment } from '../support/older-node.js'
import { listProcesses } from '../support/processes.js'
import { spawnStart } from '../support/tree.js'

const dataDir = mkdtempSync(join(tmpdir(), 'switchyard-e2e-'))
let server: Server
let busyPort: string

beforeAll(async () => {
  server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  busyPort = String((server.address() as AddressInfo).port)
})
afterAll(() => {
  server.close()
  rmSync(dataDir, { recursive: true, force: true })
})

/** Starts with a problem and returns the lines of output that name it. */
async function problemsOf(env: Record<string, string>): Promise<string[]> {
  const free = { PORT: String(await getFreePort()), GRPC_PORT: String(await getFreePort()) }
  const start = spawnStart({ ...free, SWITCHYARD_DATA: dataDir, ...env })
  expect((await start.exited).code).toBe(1)
  expect(start.output()).not.toContain('hunter2')
  expect(start.output()).not.toMatch(/^\s+at /m)
  expect(listProcesses().filter(({ command }) => command.includes(dataDir))).toEqual([])
  return start
    .output()
    .split('\n')
    .filter((line) => line.startsWith('✗'))
}

describe('npm start names the necessary change in one line when', () => {
  it('PORT is in use', async () => {
    expect(await problemsOf({ PORT: busyPort })).toEqual([
      expect.stringMatching(`port ${busyPort} is in use: .*PORT=`),
    ])
  })

  it('GRPC_PORT is in use', async () => {
    expect(await problemsOf({ GRPC_PORT: busyPort })).toEqual([
      expect.stringMatching(`port ${busyPort} is in use: .*GRPC_PORT=`),
    ])
  })

  it.each([
    ['PORT', 'eighty', 'PORT is "eighty"; it must be a port from 1 to 65535'],
    ['PORT', '99999', 'PORT is "99999"; it must be a port from 1 to 65535'],
    ['GRPC_PORT', '8080.5', 'GRPC_PORT is "8080.5"; it must be a port from 1 to 65535'],
    ['DATABASE_URL', 'mysql://root:hunter2@127.0.0.1/x', 'DATABASE_URL must be postgresql://'],
    ['REDIS_URL', 'http://:hunter2@127.0.0.1', 'REDIS_URL must be redis://'],
    [
      'DATABASE_URL',
      'postgresql://me:hunter2@127.0.0.1:1/x',
      'DATABASE_URL .127.0.0.1:1/x.: nothing listens there',
    ],
    ['REDIS_URL', 'redis://:hunter2@127.0.0.1:1', 'REDIS_URL .127.0.0.1:1.: nothing listens there'],
    ['DATABASE_URL', 'postgresql://me:hunter2@nowhere.invalid/x', 'the host name is unknown'],
    ['SAGA_RETENTION', 'soon', '^✗ worker cannot start: SAGA_RETENTION: "soon" is no rule'],
    ['SWITCHYARD_DATA', '/proc/nope', 'Cannot write to /proc/nope: .*SWITCHYARD_DATA'],
    ['SWITCHYARD_DATA', '/dev/null/data', 'Cannot write to /dev/null/data: .*SWITCHYARD_DATA'],
  ])('%s is %s', async (variable, value, problem) => {
    expect(await problemsOf({ [variable]: value })).toEqual([expect.stringMatching(problem)])
  })

  it('Node 24 is missing and cannot be downloaded', async () => {
    const empty = join(dataDir, 'empty')
    const npm = {
      npm_config_registry: 'http://127.0.0.1:1',
      npm_config_fetch_retries: '0',
      npm_config_cache: empty,
    }
    const problems = await problemsOf({ ...(await olderNodeEnvironment()), ...npm, SWITCHYARD_TOOLS: empty })
    expect(problems).toEqual([expect.stringMatching(/^✗ Node 24\..* failed .*pnpm@\S+ add .*node-/)])
  })
})
