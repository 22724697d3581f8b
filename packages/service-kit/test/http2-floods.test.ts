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
import { closers, startService, waiting } from './http2-service.js'
import { frame as messageOf } from './raw-calls.js'

const enhanceYourCalm = constants.NGHTTP2_ENHANCE_YOUR_CALM
const { endHeaders } = frameFlags

const closing = closers()
afterEach(closing.run)

async function start(...given: Parameters<typeof startService>) {
  const service = await startService(...given)
  closing.add(service.close, service.closeAll)
  return service
}

const many = (count: number, frames: (index: number) => Buffer) =>
  Buffer.concat(Array.from({ length: count }, (_, index) => frames(index)))

describe('a client is sent away, and the one beside it is served,', () => {
  it.each([
    [
      'when it opens streams only to reset them',
      many(2000, (index) => Buffer.concat([headersOf(2 * index + 1), resetOf(2 * index + 1, 8)])),
    ],
    ['when it sends data without content', Buffer.concat([headersOf(1), many(2000, () => dataOf(1, ''))])],
    ['when it changes its settings over and over', many(2000, (index) => settingsOf([4, index]))],
    [
      'when it sends requests that are none',
      many(2000, (index) => headersOf(2 * index + 1, [[':method', 'POST']])),
    ],
    [
      'when a header block has no end',
      Buffer.concat([headersOf(1, [], 0), many(100, () => frameOf(frameTypes.continuation, 0, 1))]),
    ],
  ])('%s', async (_when, flood) => {
    const service = await start()
    const [peer, beside] = await Promise.all([service.peer(), service.raw()])
    peer.send(flood)
    await peer.until(() => peer.goAwayCodes().length > 0)
    expect(peer.goAwayCodes()).toEqual([enhanceYourCalm])
    await peer.until(() => peer.isClosed)
    expect(await beside.call(messageOf('a'))).toMatchObject({ status: '0', text: 'a' })
  })
})

describe('a connection goes on', () => {
  it('after metadata that is too large, which gets a status', async () => {
    const service = await start()
    const peer = await service.peer()
    const value = 'v'.repeat(8000)
    const large = fieldsOf('/test.Test/Call', ...Array.from({ length: 9 }, () => ['x-a', value] as const))
    const block = headersOf(1, large).subarray(9)
    const parts = many(Math.ceil(block.length / 16_000), (index) => {
      const part = block.subarray(index * 16_000, (index + 1) * 16_000)
      const isLast = (index + 1) * 16_000 >= block.length
      const type = index === 0 ? frameTypes.headers : frameTypes.continuation
      return frameOf(type, isLast ? endHeaders : 0, 1, part)
    })
    peer.send(parts, dataOf(1, messageOf('a'), true), callOf(3, 'b'))
    const answer = await peer.answer(1)
    expect(answer).toMatchObject({ status: String(status.RESOURCE_EXHAUSTED) })
    expect(answer.headers['grpc-message']).toBe('Received metadata larger than max')
    expect(await peer.answer(3)).toMatchObject({ status: '0', body: messageOf('b') })
  })

  it('after some calls that were given up', async () => {
    const service = await start()
    const peer = await service.peer()
    peer.send(many(500, (index) => Buffer.concat([headersOf(2 * index + 1), resetOf(2 * index + 1, 8)])))
    peer.send(callOf(1001, 'a'))
    expect(await peer.answer(1001)).toMatchObject({ status: '0', body: messageOf('a') })
  })

  it('with more streams than may be open, of which those beyond are refused', async () => {
    const { call, calls, letGo } = waiting()
    const service = await start({ call })
    const peer = await service.peer()
    const streamsMax = 10_000
    peer.send(many(streamsMax + 1, (index) => callOf(2 * index + 1, 'a')))
    const refused = await peer.answer(2 * streamsMax + 1)
    expect(refused).toMatchObject({ resetCode: constants.NGHTTP2_REFUSED_STREAM })
    expect(calls).toHaveLength(streamsMax)
    letGo()
    peer.send(windowOf(0, 1_000_000))
    await peer.until(() => peer.ofType(frameTypes.headers).length >= 2 * streamsMax)
    peer.send(callOf(2 * streamsMax + 3, 'b'))
    expect(await peer.answer(2 * streamsMax + 3)).toMatchObject({ status: '0', body: messageOf('b') })
  })
})

it('a client that reads no answers is not read from either, and the one beside it is served', async () => {
  const service = await start()
  const [peer, beside] = await Promise.all([service.peer(), service.raw()])
  peer.socket.pause()
  const pings = many(10_000, () => pingOf())
  const floodBytes = 256 * 1024 * 1024
  let sent = 0
  for (; sent < floodBytes; sent += pings.length) {
    peer.socket.write(pings)
    // The server answers all it reads before it answers this, so what is left after it will not be read.
    expect(await beside.call(messageOf('a'))).toMatchObject({ status: '0', text: 'a' })
    if (peer.socket.writableLength > 8 * pings.length) break
  }
  expect(sent).toBeLessThan(floodBytes)
  peer.socket.resume()
  peer.send(callOf(1, 'b'))
  expect(await peer.answer(1)).toMatchObject({ status: '0', body: messageOf('b') })
})
