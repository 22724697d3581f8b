import { constants } from 'node:http2'
import { status } from '@grpc/grpc-js'
import { afterEach, describe, expect, it } from 'vitest'
import { frameFlags, frameTypes } from '../src/http2/frames.js'
import {
  callOf,
  dataOf,
  fieldsOf,
  frameOf,
  headersOf,
  pingOf,
  resetOf,
  settingsOf,
  windowOf,
} from './http2-frames.js'
import type { Peer } from './http2-peer.js'
import { closers, echo, keepingReader, serveConnections, startService, waiting } from './http2-service.js'
import { frame as messageOf } from './raw-calls.js'

const {
  NGHTTP2_ENHANCE_YOUR_CALM: enhanceYourCalm,
  NGHTTP2_REFUSED_STREAM: refusedStream,
  NGHTTP2_CANCEL: cancel,
} = constants
const { endHeaders, endStream } = frameFlags

const closing = closers()
afterEach(closing.run)

async function start(call = echo) {
  const service = await startService({ call })
  closing.add(service.close, service.closeAll)
  const [peer, raw] = await Promise.all([service.peer(), service.raw()])
  const isServed = async () =>
    expect(await raw.call(messageOf('beside'))).toMatchObject({ status: '0', text: 'beside' })
  return { service, peer, isServed }
}

/** Sends what each number gives, with a pause for the server after every hundred. */
async function flood(peer: Peer, count: number, framesOf: (index: number) => Buffer): Promise<void> {
  for (let index = 0; index < count && !peer.isClosed; index += 100) {
    peer.send(...Array.from({ length: 100 }, (_, more) => framesOf(index + more)))
    await peer.sync().catch(() => {})
  }
}

/** The n-th stream of a client. */
const idOf = (index: number) => 2 * index + 1

describe('a client is sent away', () => {
  const floods: [what: string, framesOf: (index: number) => Buffer][] = [
    ['resets its calls', (index) => Buffer.concat([callOf(idOf(index), 'a'), resetOf(idOf(index), cancel)])],
    [
      'resets them before they are whole',
      (index) => Buffer.concat([headersOf(idOf(index)), resetOf(idOf(index), cancel)]),
    ],
    [
      'has them reset by a window that does not grow',
      (index) => Buffer.concat([callOf(idOf(index), 'a'), windowOf(idOf(index), 0)]),
    ],
    [
      'has them reset by a window that grows too much',
      (index) => Buffer.concat([callOf(idOf(index), 'a'), windowOf(idOf(index), 2 ** 31 - 1)]),
    ],
    [
      'has them reset by more after the end',
      (index) => Buffer.concat([callOf(idOf(index), 'a'), dataOf(idOf(index), 'a')]),
    ],
    [
      'has them reset by trailers after the end',
      (index) =>
        Buffer.concat([callOf(idOf(index), 'a'), headersOf(idOf(index), [], endHeaders | endStream)]),
    ],
    [
      'has them reset by trailers that are not the end',
      (index) => Buffer.concat([headersOf(idOf(index)), headersOf(idOf(index), [])]),
    ],
    ['makes requests that are malformed', (index) => headersOf(idOf(index), [[':path', '/']])],
    ['changes its settings', () => settingsOf()],
    ['sends parts of nothing', (index) => Buffer.concat([index === 0 ? headersOf(1) : dataOf(1, '')])],
    [
      'sends parts of nothing but padding',
      (index) =>
        index === 0 ? headersOf(1) : frameOf(frameTypes.data, frameFlags.padded, 1, Buffer.from([1, 0])),
    ],
  ]
  it.each(floods)('that all the time %s', async (_what, framesOf) => {
    const { calls, call } = waiting()
    const { peer } = await start(call)
    await flood(peer, 3000, framesOf)
    await peer.closed()
    expect(peer.goAwayCodes()).toEqual([enhanceYourCalm])
    expect(calls.length).toBeLessThan(1300)
  })

  it.each([
    ['', 'empty'],
    ['a'.repeat(16_384), 'full'],
  ])('whose header block never ends, while others are served', async (part) => {
    const { peer, isServed } = await start()
    peer.send(
      headersOf(1, fieldsOf(), 0),
      ...Array.from({ length: 20 }, () => frameOf(frameTypes.continuation, 0, 1, part)),
    )
    await peer.closed()
    expect(peer.goAwayCodes()).toEqual([enhanceYourCalm])
    await isServed()
  })

  it('while others, also those that reset some of their calls, are served', async () => {
    const { service, peer, isServed } = await start()
    const moderate = await service.peer()
    await flood(peer, 3000, (index) =>
      Buffer.concat([callOf(idOf(index), 'a'), resetOf(idOf(index), cancel)]),
    )
    await flood(moderate, 900, (index) =>
      Buffer.concat([callOf(idOf(index), 'a'), resetOf(idOf(index), cancel)]),
    )
    await peer.closed()
    await isServed()
    moderate.send(callOf(idOf(900), 'next'))
    expect(await moderate.answer(idOf(900))).toMatchObject({ status: '0', body: messageOf('next') })
  })
})

describe('fields beyond 64 KiB', () => {
  const tooLarge = {
    headers: {
      ':status': '200',
      'grpc-status': String(status.RESOURCE_EXHAUSTED),
      'grpc-message': 'Received metadata larger than max',
    },
  }

  it.each([
    ['in one field', [['x-a', 'a'.repeat(65_536)]] as const],
    ['in many fields', Array.from({ length: 1100 }, (_, index) => [`x-${index}`, 'a'.repeat(28)] as const)],
  ])('end their call alone (%s)', async (_what, fields) => {
    const { peer, isServed } = await start()
    const block = headersOf(1, fieldsOf('/test.Test/Call', ...fields)).subarray(9)
    const parts = Array.from({ length: Math.ceil(block.length / 16_384) }, (_, index) =>
      block.subarray(index * 16_384, (index + 1) * 16_384),
    )
    parts.forEach((part, index) => {
      const type = index === 0 ? frameTypes.headers : frameTypes.continuation
      peer.send(frameOf(type, index === parts.length - 1 ? endHeaders : 0, 1, part))
    })
    peer.send(dataOf(1, messageOf('a'), true))
    expect(await peer.answer(1)).toMatchObject(tooLarge)
    peer.send(callOf(3, 'next'))
    expect(await peer.answer(3)).toMatchObject({ status: '0', body: messageOf('next') })
    await isServed()
  })

  it('that are one field of the table, time and again, end their call alone', async () => {
    const { peer } = await start()
    const kept = Buffer.concat([
      Buffer.from([0x40, 3]),
      Buffer.from('x-a'),
      Buffer.from([0x7f, 0x81, 0x1e]),
      Buffer.alloc(4000, 'a'),
    ])
    const plain = headersOf(1).subarray(9)
    peer.send(
      frameOf(frameTypes.headers, endHeaders, 1, Buffer.concat([plain, kept, Buffer.alloc(12_000, 0xbe)])),
    )
    expect(await peer.answer(1)).toMatchObject(tooLarge)
    // What the table has is as good for the next one.
    peer.send(frameOf(frameTypes.headers, endHeaders, 3, Buffer.concat([plain, Buffer.from([0xbe])])))
    peer.send(dataOf(3, messageOf('next'), true))
    expect(await peer.answer(3)).toMatchObject({ status: '0', body: messageOf('next') })
  })
})

describe('a client that reads nothing', () => {
  it('is not read from either, and is again once it reads', async () => {
    const { peer, close } = await serveConnections(keepingReader)
    closing.add(close)
    const { peer: client, connection } = await peer()
    client.socket.pause()
    const pings = Buffer.concat(Array.from({ length: 4096 }, () => pingOf()))
    let sent = 0
    // The system holds some megabytes by itself.
    while (!connection.socket.isPaused()) {
      client.send(pings)
      sent += 4096
      await new Promise((resolve) => setImmediate(resolve))
      expect(sent).toBeLessThan(4_000_000)
    }
    expect(connection.socket.writableLength).toBeLessThan(2 * 1024 * 1024)
    const read = connection.socket.bytesRead
    client.send(pings, pings)
    client.socket.resume()
    await client.sync()
    expect(connection.socket.bytesRead).toBeGreaterThan(read)
    expect(client.ofType(frameTypes.ping)).toHaveLength(sent + 2 * 4096 + 1)
    expect(client.goAwayCodes()).toEqual([])
  })

  it('has its calls wait, not the memory of the server grow', async () => {
    const { peer, isServed } = await start()
    peer.socket.pause()
    peer.send(windowOf(0, 2 ** 30), settingsOf([4, 2 ** 30]))
    const text = 'a'.repeat(16_000)
    const before = process.memoryUsage().arrayBuffers
    for (let index = 0; index < 2000; index++) peer.send(callOf(idOf(index), text))
    await isServed()
    peer.socket.resume()
    await peer.answer(idOf(1999))
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(256 * 1024 * 1024)
    for (const index of [0, 999, 1999])
      expect(await peer.answer(idOf(index))).toMatchObject({ status: '0', body: messageOf(text) })
  })
})

it('has 10,000 streams of a connection at once, and refuses more until one ends', async () => {
  const { peer, isServed } = await start()
  const open = Buffer.concat(Array.from({ length: 10_000 }, (_, index) => headersOf(idOf(index))))
  peer.send(open)
  await peer.sync()
  expect(peer.ofType(frameTypes.resetStream)).toEqual([])
  peer.send(callOf(idOf(10_000), 'one too many'))
  expect(await peer.answer(idOf(10_000))).toMatchObject({ resetCode: refusedStream })
  await isServed()
  peer.send(dataOf(idOf(5000), messageOf('first'), true))
  expect(await peer.answer(idOf(5000))).toMatchObject({ status: '0', body: messageOf('first') })
  peer.send(callOf(idOf(10_001), 'next'))
  expect(await peer.answer(idOf(10_001))).toMatchObject({ status: '0', body: messageOf('next') })
})

it('is not kept busy by windows that grow by a byte, however many answers wait for them', async () => {
  const { peer, isServed } = await start()
  const count = 9000
  // Their answers are 100 bytes each, and the connection has a window for few of them.
  peer.send(...Array.from({ length: count }, (_, index) => callOf(idOf(index), 'a'.repeat(95))))
  await peer.until(() => peer.ofType(frameTypes.headers).length >= count)
  peer.send(Buffer.concat(Array.from({ length: 5000 }, () => windowOf(0, 1))))
  await peer.sync()
  expect(peer.bytesOf()).toBe(65_535 + 5000)
  await isServed()
})

it('ends the calls of a client that was sent away', async () => {
  const { calls, call } = waiting()
  const { peer } = await start(call)
  peer.send(callOf(1, 'a'), callOf(3, 'b'))
  await peer.sync()
  expect(calls).toHaveLength(2)
  peer.send(frameOf(frameTypes.ping, 0, 0))
  await peer.closed()
  expect(calls.map(({ cancelled }) => cancelled)).toEqual([true, true])
  expect(peer.ofType(frameTypes.data)).toEqual([])
})
