import { constants } from 'node:http2'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { frameFlags, frameTypes } from '../src/http2/frames.js'
import {
  callOf,
  dataOf,
  type Fields,
  fieldsOf,
  frameOf,
  greeting,
  headersOf,
  numberOf,
  pingOf,
  preface,
  resetOf,
  settingsOf,
  windowOf,
} from './http2-frames.js'
import type { Peer } from './http2-peer.js'
import { closers, keepingReader, serveConnections, startService } from './http2-service.js'
import { frame as messageOf } from './raw-calls.js'

const {
  NGHTTP2_PROTOCOL_ERROR: protocolError,
  NGHTTP2_FLOW_CONTROL_ERROR: flowControlError,
  NGHTTP2_FRAME_SIZE_ERROR: frameSizeError,
  NGHTTP2_COMPRESSION_ERROR: compressionError,
  NGHTTP2_STREAM_CLOSED: streamClosed,
} = constants
const names = Object.fromEntries(
  Object.entries({ protocolError, flowControlError, frameSizeError, compressionError, streamClosed }).map(
    ([name, code]) => [code, name],
  ),
)

const {
  data,
  headers,
  priority,
  resetStream,
  settings,
  pushPromise,
  ping,
  goAway,
  windowUpdate,
  continuation,
} = frameTypes
const { endHeaders, endStream, padded } = frameFlags
const windowMax = 2 ** 31 - 1

const closing = closers()
let service: Awaited<ReturnType<typeof startService>>
beforeEach(async () => {
  service = await startService()
  closing.add(service.close, service.closeAll)
})
afterEach(closing.run)

/** The connection that breaks no rule goes on, whatever happens to the one beside it. */
async function isServed(raw: Awaited<ReturnType<typeof service.raw>>) {
  expect(await raw.call(messageOf('beside'))).toMatchObject({ status: '0', text: 'beside' })
}

async function expectServed(peer: Peer, id: number) {
  peer.send(callOf(id, 'next'))
  const { status, body } = await peer.answer(id)
  expect({ status, body }).toEqual({ status: '0', body: messageOf('next') })
}

describe('a connection ends', () => {
  const cases: [what: string, code: number, ...frames: Buffer[]][] = [
    ['DATA of a stream that was not opened', protocolError, dataOf(1, 'a')],
    ['RST_STREAM of a stream that was not opened', protocolError, resetOf(1, 8)],
    ['WINDOW_UPDATE of a stream that was not opened', protocolError, windowOf(1, 1)],
    ['DATA of no stream', protocolError, dataOf(0, 'a')],
    ['HEADERS of no stream', protocolError, headersOf(0)],
    ['RST_STREAM of no stream', protocolError, resetOf(0, 8)],
    ['PRIORITY of no stream', protocolError, frameOf(priority, 0, 0, Buffer.alloc(5))],
    ['CONTINUATION of no stream', protocolError, frameOf(continuation, endHeaders, 0)],
    ['SETTINGS of a stream', protocolError, frameOf(settings, 0, 1)],
    ['PING of a stream', protocolError, frameOf(ping, 0, 1, '8 bytes!')],
    ['GOAWAY of a stream', protocolError, frameOf(goAway, 0, 1, Buffer.alloc(8))],
    ['a stream with an even number', protocolError, headersOf(2)],
    ['CONTINUATION without HEADERS', protocolError, frameOf(continuation, endHeaders, 1)],
    ['CONTINUATION after a whole block', protocolError, headersOf(1), frameOf(continuation, endHeaders, 1)],
    ['PING within a header block', protocolError, headersOf(1, [], 0), pingOf()],
    ['DATA within a header block', protocolError, headersOf(1, [], 0), dataOf(1, 'a')],
    ['HEADERS within a header block', protocolError, headersOf(1, [], 0), headersOf(3)],
    ['an unknown frame within a header block', protocolError, headersOf(1, [], 0), frameOf(0xee, 0, 1)],
    [
      'CONTINUATION of another stream',
      protocolError,
      headersOf(1, [], 0),
      frameOf(continuation, endHeaders, 3),
    ],
    ['DATA with padding only', protocolError, headersOf(1), frameOf(data, padded, 1, Buffer.from([1]))],
    [
      'DATA without its padding',
      protocolError,
      headersOf(1),
      frameOf(data, padded, 1, Buffer.from([3, 0, 0])),
    ],
    [
      'HEADERS with more padding',
      protocolError,
      frameOf(headers, endHeaders | padded, 1, Buffer.from([9, 1])),
    ],
    ['HEADERS with padding of nothing', protocolError, frameOf(headers, endHeaders | padded, 1)],
    ['a window that grows by nothing', protocolError, windowOf(0, 0)],
    ['a window beyond the largest', flowControlError, windowOf(0, windowMax)],
    ['a window of streams beyond the largest', flowControlError, settingsOf([4, 2 ** 31])],
    [
      'a setting that makes a window too large',
      flowControlError,
      headersOf(1),
      windowOf(1, windowMax - 65_535),
      settingsOf([4, 65_536]),
    ],
    ['SETTINGS that are cut off', frameSizeError, frameOf(settings, 0, 0, Buffer.alloc(5))],
    ['SETTINGS that confirm and set', frameSizeError, frameOf(settings, frameFlags.ack, 0, Buffer.alloc(6))],
    ['a push that is neither allowed nor not', protocolError, settingsOf([2, 2])],
    ['a limit of frames below the smallest', protocolError, settingsOf([5, 16_383])],
    ['a limit of frames beyond the largest', protocolError, settingsOf([5, 2 ** 24])],
    ['PING of 7 bytes', frameSizeError, frameOf(ping, 0, 0, Buffer.alloc(7))],
    ['RST_STREAM of 3 bytes', frameSizeError, headersOf(1), frameOf(resetStream, 0, 1, Buffer.alloc(3))],
    ['WINDOW_UPDATE of 5 bytes', frameSizeError, frameOf(windowUpdate, 0, 0, Buffer.alloc(5))],
    ['GOAWAY of 7 bytes', frameSizeError, frameOf(goAway, 0, 0, Buffer.alloc(7))],
    ['PUSH_PROMISE', protocolError, headersOf(1), frameOf(pushPromise, endHeaders, 1, numberOf(2))],
    ['DATA of 16,385 bytes', frameSizeError, headersOf(1), dataOf(1, Buffer.alloc(16_385))],
    ['an unknown frame of 16,385 bytes', frameSizeError, frameOf(0xee, 0, 0, Buffer.alloc(16_385))],
  ]
  it.each(cases)('at %s', async (_what, code, ...frames) => {
    const [peer, beside] = await Promise.all([service.peer(), service.raw()])
    peer.send(...frames)
    // One that goes on would answer.
    await expect(peer.sync()).rejects.toThrow('the connection has ended')
    expect(peer.goAwayCodes().map((one) => names[one])).toEqual([names[code]])
    await isServed(beside)
  })

  it.each([
    ['HTTP/1.1', Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')],
    ['a greeting with a fault', Buffer.concat([preface.subarray(0, 23), Buffer.from('?')])],
    ['nothing but zeros', Buffer.alloc(64)],
    ['PING before SETTINGS', Buffer.concat([preface, pingOf()])],
    ['HEADERS before SETTINGS', Buffer.concat([preface, headersOf(1)])],
    ['an acknowledgement before SETTINGS', Buffer.concat([preface, frameOf(settings, frameFlags.ack, 0)])],
  ])('that begins with %s', async (_what, bytes) => {
    const [peer, beside] = await Promise.all([service.peer(bytes), service.raw()])
    await peer.closed()
    expect(peer.goAwayCodes()).toEqual([protocolError])
    await isServed(beside)
  })

  it.each([
    ['a field that is in no table', '80'],
    ['a field that is not in the table yet', 'be'],
    ['a field that has no end', '00'],
    ['a name that is longer than the block', '007f61'],
    ['a number that never ends', 'ffffffffffffffffff'],
    ['a table that is larger than allowed', '3fe23f'],
    ['a table that changes within the block', '8220'],
    ['a code that is none', '0081ff0161'],
    ['the end of a string within it', '0084ffffffff0161'],
  ])('at a header block with %s', async (_what, block) => {
    const [peer, beside] = await Promise.all([service.peer(), service.raw()])
    peer.send(frameOf(headers, endHeaders, 1, Buffer.from(block, 'hex')))
    await peer.closed()
    expect(peer.goAwayCodes()).toEqual([compressionError])
    await isServed(beside)
  })
})

describe('a stream alone ends', () => {
  const [method, scheme, path, ...others] = fieldsOf() as [Fields[0], Fields[0], Fields[0], ...Fields[0][]]
  const malformed: [what: string, fields: Fields][] = [
    ['a name in upper case', fieldsOf('/test.Test/Call', ['X-Upper', 'a'])],
    ['a name that is empty', fieldsOf('/test.Test/Call', ['', 'a'])],
    ['a name with a space', fieldsOf('/test.Test/Call', ['a b', 'a'])],
    ['a name beyond ASCII', fieldsOf('/test.Test/Call', ['größe', 'a'])],
    ['a value with a line break', fieldsOf('/test.Test/Call', ['x-a', 'a\r\nx-b: b'])],
    ['a value with a zero', fieldsOf('/test.Test/Call', ['x-a', 'a\0'])],
    ['no method', [scheme, path, ...others]],
    ['no scheme', [method, path, ...others]],
    ['no path', [method, scheme, ...others]],
    ['an empty path', fieldsOf('')],
    ['two paths', [method, scheme, path, path, ...others]],
    ['a pseudo-field after others', [method, scheme, ...others, path]],
    ['a pseudo-field of answers', [method, scheme, path, [':status', '200'], ...others]],
    ['an unknown pseudo-field', [method, scheme, path, [':odd', 'a'], ...others]],
    ['connection', fieldsOf('/test.Test/Call', ['connection', 'close'])],
    ['keep-alive', fieldsOf('/test.Test/Call', ['keep-alive', '1'])],
    ['proxy-connection', fieldsOf('/test.Test/Call', ['proxy-connection', 'close'])],
    ['transfer-encoding', fieldsOf('/test.Test/Call', ['transfer-encoding', 'chunked'])],
    ['upgrade', fieldsOf('/test.Test/Call', ['upgrade', 'h2c'])],
    ['te that wants more than trailers', fieldsOf('/test.Test/Call', ['te', 'gzip'])],
  ]
  it.each(malformed)('at a request with %s', async (_what, fields) => {
    const peer = await service.peer()
    peer.send(callOf(1, 'a', fields))
    expect(await peer.answer(1)).toMatchObject({ resetCode: protocolError, headers: {} })
    await expectServed(peer, 3)
    expect(peer.goAwayCodes()).toEqual([])
  })

  const broken: [what: string, code: number, ...frames: Buffer[]][] = [
    ['its window grows by nothing', protocolError, windowOf(1, 0)],
    ['its window grows beyond the largest', flowControlError, windowOf(1, windowMax)],
    ['its trailers do not end it', protocolError, headersOf(1, [['x-a', 'a']])],
    [
      'its trailers have a pseudo-field',
      protocolError,
      headersOf(1, [[':path', '/']], endHeaders | endStream),
    ],
  ]
  it.each(broken)('when %s', async (_what, code, ...frames) => {
    const peer = await service.peer()
    peer.send(headersOf(1), ...frames)
    expect(await peer.answer(1)).toMatchObject({ resetCode: code, headers: {} })
    await expectServed(peer, 3)
  })

  it.each([
    ['DATA', dataOf(1, 'more')],
    ['empty DATA', dataOf(1, '')],
    ['HEADERS', headersOf(1, [['x-a', 'a']], endHeaders | endStream)],
  ])('when %s comes after its end', async (_what, more) => {
    const { peer, close } = await serveConnections(keepingReader)
    closing.add(close)
    const { peer: client, connection } = await peer()
    client.send(headersOf(1, fieldsOf(), endHeaders | endStream), more)
    expect(await client.answer(1)).toMatchObject({ resetCode: streamClosed })
    await client.sync()
    expect(connection.idleSinceMs).not.toBeNull()
  })

  it('when more comes than its window has, while others may send', async () => {
    const readers: ReturnType<typeof keepingReader>[] = []
    const { peer, close } = await serveConnections(() => {
      const reader = keepingReader()
      readers.push(reader)
      return reader
    })
    closing.add(close)
    const { peer: client } = await peer()
    const part = Buffer.alloc(16_384)
    client.send(headersOf(1), headersOf(3), ...Array.from({ length: 64 }, () => dataOf(1, part)))
    await client.sync()
    expect(client.ofType(resetStream)).toEqual([])
    expect(readers[0]).toMatchObject({ bytes: 1024 * 1024, code: null })
    client.send(dataOf(1, 'a'), dataOf(3, part))
    expect(await client.answer(1)).toMatchObject({ resetCode: flowControlError })
    await client.sync()
    expect(readers).toMatchObject([{ code: flowControlError }, { bytes: part.length, code: null }])
  })
})

describe('a connection goes on', () => {
  const withPriority = frameOf(
    headers,
    endHeaders | padded | frameFlags.priority,
    1,
    Buffer.concat([Buffer.from([2, 0, 0, 0, 0, 15]), headersOf(1).subarray(9), Buffer.alloc(2)]),
  )
  const end = dataOf(1, messageOf('a'), true)
  it.each<[what: string, ...frames: Buffer[]]>([
    ['unknown frames', frameOf(0xee, 0xff, 0, 'a'), headersOf(1), frameOf(0xbe, 0xff, 1, 'a'), end],
    ['unknown settings', settingsOf([0x99, 1], [3, 0], [6, 1]), headersOf(1), end],
    ['PRIORITY', frameOf(priority, 0, 9, Buffer.alloc(5)), headersOf(1), end],
    ['HEADERS with a priority and padding', withPriority, end],
    [
      'DATA with padding',
      headersOf(1),
      frameOf(data, endStream | padded, 1, Buffer.from('\x02\0\0\0\0\x01a\0\0', 'latin1')),
    ],
    [
      'trailers',
      headersOf(1),
      dataOf(1, messageOf('a')),
      headersOf(1, [['x-a', 'a']], endHeaders | endStream),
    ],
    ['the highest bit of a stream', headersOf(1 + 2 ** 31), end],
    [
      'a table that is as small as can be',
      frameOf(headers, endHeaders, 1, Buffer.concat([Buffer.from([0x20]), headersOf(1).subarray(9)])),
      end,
    ],
    ['GOAWAY of the client', headersOf(1), frameOf(goAway, 0, 0, Buffer.alloc(8)), end],
  ])('after %s', async (_what, ...frames) => {
    const peer = await service.peer()
    peer.send(...frames)
    expect(await peer.answer(1)).toMatchObject({ status: '0', body: messageOf('a') })
    await expectServed(peer, 11)
    expect(peer.goAwayCodes()).toEqual([])
  })

  it('after frames of a stream that is over', async () => {
    const peer = await service.peer()
    peer.send(callOf(1, 'a'))
    await peer.answer(1)
    peer.send(windowOf(1, 1), windowOf(1, 0), resetOf(1, 8), dataOf(1, 'a'), resetOf(1, 8))
    await expectServed(peer, 3)
    expect(peer.goAwayCodes()).toEqual([])
  })

  it('after frames of a stream that is over', async () => {
    const peer = await service.peer()
    await expectServed(peer, 1)
    peer.send(windowOf(1, 1), windowOf(1, 0), windowOf(1, windowMax), resetOf(1, 8), dataOf(1, 'a'))
    peer.send(headersOf(1, [['x-a', 'a']], endHeaders | endStream))
    await expectServed(peer, 3)
    expect(peer.goAwayCodes()).toEqual([])
  })

  it('with a client that sends each of its bytes by itself', async () => {
    const peer = await service.peer(Buffer.alloc(0))
    peer.socket.setNoDelay(true)
    for (const byte of Buffer.concat([greeting, callOf(1, 'a')]))
      await new Promise((resolve) => peer.socket.write(Buffer.from([byte]), resolve))
    expect(await peer.answer(1)).toMatchObject({ status: '0', body: messageOf('a') })
  })
})
