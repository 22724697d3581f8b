import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'

const main = join(import.meta.dirname, 'fixtures/spinning-service.ts')
let service: ChildProcess | undefined

afterEach(() => service?.kill('SIGKILL'))

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Starts the service whose route `/api/v4/spin` stops the event loop, and waits until it answers. */
async function startSpinning(stallMs: number, ...nodeOptions: string[]) {
  const port = await freePort()
  const args = [...nodeOptions, '--import', 'tsx', main]
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, PORT: String(port), EVENT_LOOP_STALL_MS: String(stallMs) },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  service = child
  let log = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    log += text
  })
  const exited = once(child, 'exit')
  const ask = (path: string) => fetch(`http://127.0.0.1:${port}${path}`).catch(() => null)
  await expect.poll(async () => (await ask('/-/liveness'))?.status).toBe(200)
  return { child, exited, ask, log: () => log }
}

it('a process whose event loop stands still is killed, and its last line of log says why', async () => {
  const { exited, ask, log } = await startSpinning(1000)
  void ask('/api/v4/spin')
  expect(await exited).toEqual([null, 'SIGKILL'])
  const line = log().trim().split('\n').at(-1) ?? ''
  expect(JSON.parse(line)).toMatchObject({
    level: 'fatal',
    service: 'spinning',
    msg: expect.stringContaining('stood still for 1000 ms'),
  })
})

it('a process that was stopped for longer, like a suspended machine, continues', async () => {
  const { child, ask } = await startSpinning(1000)
  child.kill('SIGSTOP')
  await delay(3000)
  child.kill('SIGCONT')
  await delay(1500)
  expect((await ask('/-/liveness'))?.status).toBe(200)
})

it.each([
  ['0 switches the watching off', 0, []],
  ['a debugger suspends the watching', 1000, ['--inspect=127.0.0.1:0']],
] as const)('%s', async (_name, stallMs, nodeOptions) => {
  const { child, exited, ask } = await startSpinning(stallMs, ...nodeOptions)
  void ask('/api/v4/spin')
  expect(await Promise.race([exited, delay(4000, 'still running')])).toBe('still running')
  child.kill('SIGKILL')
  await exited
})

it('a stop by SIGTERM is as clean as without the watch', async () => {
  const { child, exited } = await startSpinning(1000)
  child.kill('SIGTERM')
  expect(await exited).toEqual([0, null])
})
