import { once } from 'node:events'
import type { ClientHttp2Stream } from 'node:http2'
import { status } from '@grpc/grpc-js'
import { unauthenticated } from '@switchyard/domain'
import { createLogger } from '@switchyard/service-kit/observability'
import { waitFor } from '@switchyard/testing'
import { afterEach, describe, expect, it } from 'vitest'
import { serverStream, unary } from '../../src/grpc/grpc.js'
import { connect, definition, startServer } from './grpc-harness.js'
import {
  callFields,
  cancelOf,
  connectFrames,
  continuationOf,
  dataOf,
  type FrameClient,
  headersOf,
  openHeadersOf,
  pingOf,
} from './http2-frames.js'
import { connectRaw, frame, sendApart } from './raw-calls.js'

const logger = createLogger('test', 'silent')
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const mib = 1024 * 1024
const path = '/test.Test/Call'
const watch = serverStream<Buffer, Buffer>(async function* () {}, logger)

async function start({ admit = (): void => {} } = {}) {
  let handled = 0
  const call = unary<Buffer, Buffer>(async (request) => {
    handled += 1
    return request
  }, logger)
  const services = [{ name: 'test.Test', definition, implementation: { call, watch }, admit }]
  const server = await startServer({}, { services, drainTimeoutMs: 100, probePeriodMs: 0 })
  const neighbour = connect(server.port)
  closing.push(server.close, neighbour.close)
  const hostile = async () => {
    const client = await connectFrames(server.port)
    closing.push(client.close)
    return client
  }
  return { server, neighbour, hostile, handled: () => handled }
}

/** Returns the id of a client's n-th stream. */
const idOf = (index: number) => 2 * index + 1

/** Starts calls that send all of their 4 MiB except the last byte. */
async function sendUnfinished({ port }: { port: number }, calls: number, perConnection: number) {
  const part = Buffer.alloc(64 * 1024)
  for (let sent = 0; sent < calls; sent += perConnection) {
    const raw = await connectRaw(port)
    closing.push(raw.close)
    for (let index = 0; index < Math.min(perConnection, calls - sent); index += 1) {
      const { stream } = raw.open()
      const parts = [frame('', 0, 4 * mib), ...Array.from({ length: 63 }, () => part), part.subarray(1)]
      sendApart(stream, parts).catch(() => {})
    }
  }
}

/**
 * Returns the status of a call that is answered before its message is complete, and whose stream stays open.
 */
const statusBeforeEnd = async (stream: ClientHttp2Stream) =>
  (await once(stream, 'response'))[0]['grpc-status']

describe('200 calls with 4 MiB of an incomplete message each', () => {
  it.each([
    ['on two connections', 100],
    ['on forty connections', 5],
  ])('cost less than 400 MB and keep no neighbour waiting, %s', async (_where, perConnection) => {
    const { server, neighbour } = await start()
    expect(await neighbour.call('before')).toBe('before')
    const before = process.memoryUsage()
    await sendUnfinished(server, 200, perConnection)
    let mostBytes = 0
    for (let round = 0; round < 30; round += 1) {
      // Without an end of the stalled calls, the neighbour would wait for ever.
      expect(await neighbour.call(`round ${round}`, 60_000)).toBe(`round ${round}`)
      const { arrayBuffers } = process.memoryUsage()
      mostBytes = Math.max(mostBytes, arrayBuffers - before.arrayBuffers)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    expect(mostBytes).toBeLessThan(400 * mib)
  })

  it('are answered before their messages are read when their sender is unknown', async () => {
    const { hostile, handled } = await start({
      admit: () => {
        throw unauthenticated()
      },
    })
    const client = await hostile()
    for (let index = 0; index < 200; index += 1) client.send(headersOf(idOf(index), callFields(path)))
    await waitFor(() => client.answers() === 200)
    expect(handled()).toBe(0)
  })
})

// A check frees the slots after half a second, so the answer must come sooner. A busy machine gets more
// attempts.
it('calls whose deadlines pass before their messages are complete keep their slots, and none of those that are reserved for other connections', {
  retry: 3,
}, async () => {
  const { server, neighbour } = await start()
  expect(await neighbour.call('before')).toBe('before')
  const raw = await connectRaw(server.port)
  closing.push(raw.close)
  for (let round = 0; round < 4; round += 1) {
    const calls = Array.from({ length: 16 }, () => raw.open({ 'grpc-timeout': '50m' }))
    for (const { stream } of calls) stream.write(frame('', 0, 4 * mib))
    const statuses = (await Promise.all(calls.map(({ stream }) => statusBeforeEnd(stream)))).map(String)
    expect(new Set(statuses)).toEqual(new Set([String(status.DEADLINE_EXCEEDED)]))
  }
  expect(await neighbour.call('beside', 300)).toBe('beside')
})

it('1,500 resets in a burst end no other connection, and no call of another', async () => {
  const { neighbour, hostile } = await start()
  const client = await hostile()
  const burst = Array.from({ length: 1500 }, (_, index) =>
    Buffer.concat([headersOf(idOf(index), callFields(path)), cancelOf(idOf(index))]),
  )
  const calls = Array.from({ length: 50 }, (_, index) => neighbour.call(String(index)))
  client.send(...burst)
  expect(await Promise.all(calls)).toEqual(calls.map((_call, index) => String(index)))
  expect(await neighbour.call('after')).toBe('after')
})

it.each([250, 900])(
  '%i canceled calls release their slots to as many that arrive at the same time',
  async (calls) => {
    const { hostile, handled } = await start()
    const client = await hostile()
    const begun = Array.from({ length: calls }, (_, index) => idOf(index))
    const later = begun.map((id) => id + 2 * calls)
    client.send(...begun.map((id) => headersOf(id, callFields(path))))
    client.send(pingOf())
    await waitFor(() => client.pongs() === 1)
    client.send(
      ...begun.map(cancelOf),
      ...later.flatMap((id) => [headersOf(id, callFields(path)), dataOf(id, frame('a'), true)]),
    )
    await waitFor(() => later.every((id) => client.isEnded(id)), { what: 'all answers' })
    expect(client.isSentAway()).toBe(false)
    expect(handled()).toBe(calls)
  },
)

describe('metadata over 64 KiB', () => {
  it.each([
    ['in one field', [['x-a', 'a'.repeat(70_000)]] as const],
    ['in many fields', Array.from({ length: 1100 }, (_, index) => [`x-${index}`, 'a'.repeat(60)] as const)],
    ['in one field of 1 MiB', [['x-a', 'a'.repeat(mib)]] as const],
  ])('are refused %s, and hurt no neighbour', async (_what, fields) => {
    const { neighbour, hostile, handled } = await start()
    const client = await hostile()
    client.send(headersOf(1, callFields(path, ...fields)), dataOf(1, frame('a'), true))
    await waitFor(() => client.isRefused(1) || client.isReset(1) || client.isSentAway())
    expect(await neighbour.call('beside')).toBe('beside')
    expect(handled()).toBe(1)
  })

  it.each([
    ['', 'empty'],
    ['a'.repeat(16_384), 'full'],
  ])('whose end never comes end their connection at most', async (part) => {
    const { neighbour, hostile } = await start()
    const client = await hostile()
    client.send(openHeadersOf(1, callFields(path)))
    for (let index = 0; index < 2000 && !client.isClosed(); index += 1)
      client.send(continuationOf(1, Buffer.from(part)))
    await waitFor(() => client.isSentAway())
    expect(await neighbour.call('beside')).toBe('beside')
  })
})

/** Floods of requests that cost a client nothing, without reading answers. */
const floods: [what: string, send: (client: FrameClient) => void][] = [
  [
    'pings',
    (client) => {
      const pings = Buffer.concat(Array.from({ length: 1000 }, pingOf))
      for (let index = 0; index < 500; index += 1) client.send(pings)
    },
  ],
  [
    'calls',
    (client) => {
      for (let index = 0; index < 3000; index += 1)
        client.send(
          headersOf(idOf(index), callFields(path)),
          dataOf(idOf(index), frame('a'.repeat(16_000)), true),
        )
    },
  ],
]
it.each(floods)(
  'a client that sends %s and reads nothing costs little, and does not harm others',
  async (_what, send) => {
    const { neighbour, hostile } = await start()
    const client = await hostile()
    client.socket.pause()
    const before = process.memoryUsage().rss
    send(client)
    for (let round = 0; round < 10; round += 1) {
      expect(await neighbour.call(String(round))).toBe(String(round))
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(400 * mib)
  },
)

it('a connection has 2,048 calls at once; more of them wait or are refused, and cost little', async () => {
  const { server, hostile, neighbour } = await start()
  expect(await neighbour.call('before')).toBe('before')
  const before = process.memoryUsage().rss
  const client = await hostile()
  for (let index = 0; index < 2100; index += 1) client.send(headersOf(idOf(index), callFields(path)))
  await waitFor(() => client.isReset(idOf(2099)))
  expect(client.isReset(idOf(2000))).toBe(false)
  expect(await neighbour.call('beside')).toBe('beside')
  expect(process.memoryUsage().rss - before).toBeLessThan(400 * mib)
  const proper = connect(server.port)
  closing.push(proper.close)
  const calls = Array.from({ length: 2500 }, (_, index) => proper.call(String(index), 60_000))
  expect(await Promise.all(calls)).toEqual(calls.map((_call, index) => String(index)))
})

it('random bytes end at most their own connection', async () => {
  const { neighbour, hostile } = await start()
  for (let round = 0; round < 50; round += 1) {
    const client = await hostile()
    const bytes = Buffer.from(Array.from({ length: 500 }, () => Math.floor(Math.random() * 256)))
    client.send(bytes, headersOf(1, callFields(path)), bytes)
  }
  expect(await neighbour.call('beside')).toBe('beside')
  await expect(neighbour.call('late', 0)).rejects.toMatchObject({ code: status.DEADLINE_EXCEEDED })
})
