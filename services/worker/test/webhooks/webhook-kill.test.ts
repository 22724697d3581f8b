import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { bundled, programEnvironment } from '@switchyard/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startHarness } from '../harness.js'
import {
  addDelivery,
  addWebhook,
  findDelivery,
  makeDue,
  ok,
  secret,
  startReceiver,
} from './webhook-receiver.js'

let harness: Awaited<ReturnType<typeof startHarness>>
const children: ChildProcess[] = []
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await harness.close()
})

/** Starts a worker in a separate process, and records its output. */
async function startProcess() {
  const env = {
    ...programEnvironment(),
    ...harness.environment,
    LOG_LEVEL: 'trace',
    WEBHOOK_ALLOWED_HOSTS: '127.0.0.1',
  }
  const child = spawn(process.execPath, [await bundled('services/worker')], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.push(child)
  let output = ''
  const keep = (chunk: Buffer) => {
    output += chunk
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  return { child, exited: once(child, 'exit'), output: () => output }
}

it('a delivery is sent again under the same id when its worker was killed before the answer, even after Redis lost everything', async () => {
  const receiver = await startReceiver((response, number) => {
    // The first request is received, and never answered.
    if (number > 1) ok(response)
  })
  try {
    const { id: hook } = await addWebhook(harness.database, receiver.url)
    const id = await addDelivery(harness.database, hook)
    const first = await startProcess()
    await expect.poll(() => receiver.requests.length).toBe(1)
    first.child.kill('SIGKILL')
    await first.exited
    expect(await findDelivery(harness.database, hook, id)).toMatchObject({ state: 'pending', attempts: 1 })

    await harness.redis.flushall()
    await makeDue(harness.database, id)
    const second = await startProcess()
    await expect.poll(async () => (await findDelivery(harness.database, hook, id)).state).toBe('succeeded')
    expect(receiver.requests.map(({ headers }) => headers['x-switchyard-delivery'])).toEqual([id, id])
    second.child.kill('SIGTERM')
    expect(await second.exited).toEqual([0, null])

    const said = first.output() + second.output()
    expect(said).toContain('sent a webhook')
    expect(said).not.toContain(secret)
    expect(said).not.toContain(receiver.url)
    expect(said).not.toContain('v1=')
  } finally {
    receiver.close()
  }
})
