import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitFor } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { getFreePort } from '../../packages/local-servers/src/process/free-port.js'
import { olderNodeEnvironment } from '../support/older-node.js'
import { isRunning, listDescendants, type ProcessInfo } from '../support/processes.js'
import { spawnStart } from '../support/tree.js'

const folder = mkdtempSync(join(tmpdir(), 'switchyard-e2e-'))
let older: { PATH: string }

beforeAll(async () => {
  older = await olderNodeEnvironment()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const npm = (...args: string[]) => ({ command: 'npm', args })
const script = (...args: string[]) => ({ command: 'node', args })

/** Uses the first Node in PATH. An older one runs the script again on another. */
const onOwnNode = () => ({})
const onOlderNode = () => older

/** Returns the process ids that receive the signal; a negative id means a process group, as in kill(2). */
const toTheFirst = (pid: number) => pid
const toTheGroup = (pid: number) => -pid

const listens = (port: string) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(Number(port), '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })

const allEnded = (processes: ProcessInfo[]) =>
  waitFor(() => processes.every(({ pid }) => !isRunning(pid)), {
    what: 'every process to end',
    intervalMs: 100,
  })

describe('a stop ends all started processes and frees both ports', () => {
  it.each([
    ['npm start', 'SIGTERM to npm', npm('start'), 'SIGTERM', toTheFirst, onOlderNode],
    ['npm start', 'SIGINT to npm', npm('start'), 'SIGINT', toTheFirst, onOwnNode],
    ['npm start', 'SIGHUP to npm', npm('start'), 'SIGHUP', toTheFirst, onOwnNode],
    ['npm start', 'SIGKILL to npm', npm('start'), 'SIGKILL', toTheFirst, onOlderNode],
    ['npm start', 'SIGTERM to the process group', npm('start'), 'SIGTERM', toTheGroup, onOwnNode],
    ['npm start', 'Ctrl-C in a terminal', npm('start'), 'SIGINT', toTheGroup, onOlderNode],
    ['the script', 'SIGHUP', script('ops/start.mjs'), 'SIGHUP', toTheFirst, onOwnNode],
    ['the script', 'SIGKILL', script('ops/start.mjs'), 'SIGKILL', toTheFirst, onOlderNode],
    [
      'pnpm dev',
      'SIGKILL to the npx above it',
      npm('exec', '--yes', 'pnpm@12.21.0', 'dev'),
      'SIGKILL',
      toTheFirst,
      onOwnNode,
    ],
    [
      'pnpm dev',
      'SIGTERM to the npx above it',
      npm('exec', '--yes', 'pnpm@12.21.0', 'dev'),
      'SIGTERM',
      toTheFirst,
      onOlderNode,
    ],
  ] as const)('%s: %s', async (_what, _how, command, signal, target, node) => {
    // The ports differ between starts, because another test may receive a free port between two of them.
    const ports = { PORT: String(await getFreePort()), GRPC_PORT: String(await getFreePort()) }
    const start = spawnStart({ ...ports, ...node(), SWITCHYARD_DATA: join(folder, 'data') }, command)
    await start.ready
    const pid = start.process.pid ?? 0
    const descendants = listDescendants(pid)
    expect(descendants.length).toBeGreaterThanOrEqual(7)
    expect([await listens(ports.PORT), await listens(ports.GRPC_PORT)]).toEqual([true, true])

    process.kill(target(pid), signal)
    await start.exited
    await allEnded(descendants)
    expect([await listens(ports.PORT), await listens(ports.GRPC_PORT)]).toEqual([false, false])
    expect(start.output()).not.toMatch(/starting again|was killed/)
  })
})

describe('a stop ends the servers and the command of scripts/with-infra.mjs', () => {
  // A command with a child that runs until it is stopped.
  const command = [
    'scripts/with-infra.mjs',
    '--postgres',
    'sh',
    '-c',
    'sleep 1000 & echo "Switchyard is ready"; sleep 1000',
  ]

  it.each([
    ['SIGTERM', toTheFirst],
    ['SIGINT', toTheFirst],
    ['SIGHUP', toTheFirst],
    ['SIGKILL', toTheFirst],
    ['SIGTERM', toTheGroup],
  ] as const)('by %s', async (signal, target) => {
    const start = spawnStart({ SWITCHYARD_TEST_DATABASE_URL: '' }, script(...command))
    await start.ready
    const pid = start.process.pid ?? 0
    // The shell starts its commands a moment before or after its readiness message.
    const descendants = await waitFor(
      () => {
        const found = listDescendants(pid)
        return found.filter(({ command }) => command === 'sleep 1000').length === 2 && found
      },
      { what: 'both commands of the shell', intervalMs: 100 },
    )
    expect(descendants.some(({ command }) => command.includes('postgres'))).toBe(true)
    process.kill(target(pid), signal)
    await allEnded(descendants)
  })
})

describe('npm test', () => {
  it('ends with all started processes when npm is killed', async () => {
    const environment = { SWITCHYARD_TEST_DATABASE_URL: '', SWITCHYARD_TEST_TOTALS: join(folder, 'totals') }
    const start = spawnStart(environment, npm('test', '--', 'packages/db/test/client.test.ts'))
    start.exited.catch(() => {})
    const pid = start.process.pid ?? 0
    const isPostgres = ({ command }: ProcessInfo) => command.includes('/cluster')
    let descendants: ProcessInfo[] = []
    await waitFor(
      () => {
        descendants = listDescendants(pid)
        return descendants.some(isPostgres)
      },
      { what: 'PostgreSQL of the tests', intervalMs: 100 },
    )
    process.kill(pid, 'SIGKILL')
    await allEnded(descendants)
    expect(descendants.filter(({ pid }) => isRunning(pid))).toEqual([])
  })
})
