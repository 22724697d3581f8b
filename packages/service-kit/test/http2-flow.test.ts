import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { afterEach, describe, expect, it } from 'vitest'
import { frameTypes } from '../src/http2/frames.js'
import {
  callOf,
  dataOf,
  greeting,
  headersOf,
  pingOf,
  pongOf,
  preface,
  settingsOf,
  windowOf,
} from './http2-frames.js'
import { closers, sized, startingIn, streamed, waiting } from './http2-service.js'
import { frame as messageOf } from './raw-calls.js'

const closing = closers()
afterEach(closing.run)

const start = startingIn(closing)

describe('an answer comes whole', () => {
  it.each([1, 100, 65_535, 1_000_000])('to a client with a window of %d bytes', async (initialWindowSize) => {
    const service = await start({ call: sized })
    const session = connectHttp2(`http://127.0.0.1:${service.port}`, { settings: { initialWindowSize } })
    closing.add(() => session.destroy())
    const bytes = initialWindowSize === 1 ? 300 : 300_000
    const asked = Array.from({ length: 4 }, async () => {
      const stream = session.request({
        ':method': 'POST',
        ':path': '/test.Test/Call',
        'content-type': 'application/grpc',
      })
      stream.end(messageOf(String(bytes)))
      return Buffer.concat(await stream.toArray())
    })
    for (const body of await Promise.all(asked)) expect(body.equals(messageOf('x'.repeat(bytes)))).toBe(true)
  })

  it('when its window is taken away by settings and given back', async () => {
    const service = await start({ call: sized })
    const peer = await service.peer()
    peer.send(callOf(1, '100000'))
    await peer.until(() => peer.bytesOf(1) === 65_535)
    peer.send(settingsOf([4, 0]), windowOf(0, 200_000), windowOf(1, 30_000))
    await peer.sync()
    expect(peer.bytesOf(1)).toBe(65_535)
    peer.send(settingsOf([4, 65_535]))
    await peer.until(() => peer.bytesOf(1) === 95_535)
    peer.send(windowOf(1, 100_000))
    expect((await peer.answer(1)).body.equals(messageOf('x'.repeat(100_000)))).toBe(true)
  })

  it('of a stream to a client that reads slowly, which is sent no more than its window', async () => {
    let given = 0
    const messages = 400
    const watch = streamed(async function* () {
      for (; given < messages; given += 1) yield Buffer.alloc(10_000, given % 256)
    })
    const service = await start({ watch })
    const peer = await service.peer()
    peer.send(headersOf(1, undefined), dataOf(1, messageOf(''), true))
    await peer.answer(1)
    peer.send(
      callOf(3, '', [
        [':method', 'POST'],
        [':scheme', 'http'],
        [':path', '/test.Test/Watch'],
        ['content-type', 'application/grpc'],
      ]),
    )
    await peer.until(() => peer.bytesOf(3) >= 65_000)
    await peer.sync()
    expect(given).toBeLessThan(messages / 2)
    peer.send(windowOf(0, 10_000_000), windowOf(3, 10_000_000))
    expect((await peer.answer(3)).body).toHaveLength(messages * 10_005)
  })
})

it('streams share a connection in turns', async () => {
  const service = await start({ call: sized })
  const peer = await service.peer(Buffer.concat([preface, settingsOf([4, 10_000_000])]))
  const ids = [1, 3, 5, 7]
  peer.send(...ids.map((id) => callOf(id, '400000')))
  await peer.until(() => peer.bytesOf() === 65_535)
  for (let turn = 0; turn < 16; turn += 1) {
    const before = peer.bytesOf()
    peer.send(windowOf(0, 65_536))
    await peer.until(() => peer.bytesOf() === before + 65_536)
  }
  const waitingFor = ids.map((id) => peer.bytesOf(id)).slice(1)
  expect(Math.max(...waitingFor) - Math.min(...waitingFor)).toBeLessThanOrEqual(16_384)
})

describe('a connection that is drained', () => {
  it('serves what was sent before its client knew, and nothing after', async () => {
    const { call, letGo } = waiting()
    const service = await start({ call }, { drainTimeoutMs: 10_000 })
    const peer = await service.peer()
    peer.send(callOf(1, 'a'))
    await peer.sync()
    const closed = service.close()
    await peer.until(() => peer.goAwayCodes().length === 1)
    const [first] = peer.ofType(frameTypes.goAway)
    expect(first?.payload.readUInt32BE()).toBe(2 ** 31 - 1)
    const goodbye = await peer.until(() => peer.ofType(frameTypes.ping).find(({ flags }) => flags === 0))
    peer.send(callOf(3, 'b'), pongOf(goodbye.payload), callOf(5, 'c'))
    await peer.until(() => peer.goAwayCodes().length === 2)
    expect(peer.ofType(frameTypes.goAway)[1]?.payload.readUInt32BE()).toBe(3)
    letGo()
    for (const [id, text] of [
      [1, 'a'],
      [3, 'b'],
    ] as const)
      expect(await peer.answer(id)).toMatchObject({ status: '0', body: messageOf(text) })
    await closed
    await peer.until(() => peer.isClosed)
    expect(peer.goAwayCodes()).toEqual([0, 0])
    expect(peer.ofType(frameTypes.headers, 5)).toEqual([])
  })

  it('ends though its client answers no ping', async () => {
    const service = await start({}, { drainTimeoutMs: 10_000 })
    const peer = await service.peer()
    peer.send(pingOf())
    await peer.until(() => peer.ofType(frameTypes.ping).length > 0)
    const ended = once(peer.socket, 'close')
    await service.close()
    await ended
    expect(peer.goAwayCodes()).toEqual([0, 0])
  })
})

it('a client that says nothing is not served for ever', async () => {
  const service = await start({}, { connectionIdleMsMax: 50 })
  const silent = await service.peer(Buffer.alloc(0))
  const greeted = await service.peer(greeting)
  await silent.until(() => silent.isClosed)
  await greeted.until(() => greeted.isClosed)
  expect(greeted.goAwayCodes()).toEqual([0, 0])
})
