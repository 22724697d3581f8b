import { constants } from 'node:http2'
import { type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { frameTypes } from '../src/http2/frames.js'
import { type ConnectionLimits, limitLifetime } from '../src/http2/index.js'
import { connect } from './grpc-harness.js'
import { callOf, dataOf, fieldsOf, headersOf, pingOf, pongOf, resetOf, windowOf } from './http2-frames.js'
import { closers, keepingReader, serveConnections, startingIn, streamed, waiting } from './http2-service.js'
import { frame as messageOf } from './raw-calls.js'

const patience = { timeout: 15_000 }
const closing = closers()
afterEach(closing.run)

const start = startingIn(closing)

const hourMs = 3_600_000
const unlimited: ConnectionLimits = {
  ageMsMax: hourMs,
  ageGraceMs: hourMs,
  idleMsMax: hourMs,
  keepaliveMs: hourMs,
  keepaliveTimeoutMs: hourMs,
}

/** A connection by itself, and what its client gets. */
async function open(limits: Partial<ConnectionLimits> = {}) {
  const readers: ReturnType<typeof keepingReader>[] = []
  const { peer, close } = await serveConnections(() => {
    const reader = keepingReader()
    readers.push(reader)
    return reader
  })
  closing.add(close)
  const { peer: client, connection } = await peer()
  limitLifetime(connection, { ...unlimited, ...limits })
  const asked = () => client.ofType(frameTypes.ping).filter(({ flags }) => flags === 0)
  return { client, connection, readers, asked }
}

describe('a connection whose client is asked for a sign of life', () => {
  it('goes on as long as it gives one', async () => {
    const { client, asked } = await open({ keepaliveMs: 500, keepaliveTimeoutMs: 450 })
    for (let count = 1; count <= 3; count++) {
      const ping = await client.until(() => asked()[count - 1])
      client.send(pongOf(ping.payload))
    }
    await client.sync()
    expect(client.goAwayCodes()).toEqual([])
  })

  it('is cut when it gives none, and its calls end', async () => {
    const { client, readers, asked } = await open({ keepaliveMs: 50, keepaliveTimeoutMs: 40 })
    client.send(headersOf(1))
    await client.closed()
    expect(asked().length).toBeGreaterThan(0)
    await vi.waitFor(() => expect(readers).toMatchObject([{ code: constants.NGHTTP2_CANCEL }]), patience)
  })
})

describe('a connection that is old', () => {
  it('ends once the calls under way are answered', async () => {
    const { call, letGo } = waiting()
    const service = await start({ call }, { connectionAgeMsMax: 50 })
    const peer = await service.peer()
    peer.send(callOf(1, 'a'))
    const goodbye = await peer.until(() => peer.ofType(frameTypes.ping)[0])
    peer.send(pongOf(goodbye.payload))
    await peer.until(() => peer.goAwayCodes().length === 2)
    letGo()
    expect(await peer.answer(1)).toMatchObject({ status: '0', body: messageOf('a') })
    await peer.closed()
    expect(peer.goAwayCodes()).toEqual([0, 0])
  })

  it('is cut when they take too long', async () => {
    const { client, readers } = await open({ ageMsMax: 50, ageGraceMs: 50 })
    client.send(headersOf(1))
    await client.closed()
    expect(client.goAwayCodes()).toEqual([0])
    await vi.waitFor(() => expect(readers).toMatchObject([{ code: constants.NGHTTP2_CANCEL }]), patience)
  })

  it('is not said to serve more streams than it was said before', async () => {
    const { client, connection, asked } = await open()
    client.send(headersOf(1))
    await client.sync()
    connection.drain()
    const goodbye = await client.until(() => asked()[0])
    client.send(pongOf(goodbye.payload), headersOf(3), pingOf('too much '))
    await client.closed()
    expect(client.goAwayCodes()).toEqual([0, 0, constants.NGHTTP2_FRAME_SIZE_ERROR])
    const lastIds = client.ofType(frameTypes.goAway).map(({ payload }) => payload.readUInt32BE())
    expect(lastIds).toEqual([2 ** 31 - 1, 1, 1])
  })
})

describe('a call that the library has', () => {
  const endless = () => {
    const ended = vi.fn()
    const watch = streamed(async function* (signal) {
      signal.addEventListener('abort', ended)
      // More than all windows on its way hold.
      while (!signal.aborted) yield Buffer.alloc(16_000)
    })
    return { ended, watch }
  }
  const watchOf = (id: number) => callOf(id, '', fieldsOf('/test.Test/Watch'))

  it.each(['NO_ERROR', 'CANCEL', 'INTERNAL_ERROR'] as const)(
    'is cancelled when its caller, who reads nothing, resets it with %s',
    async (code) => {
      const { ended, watch } = endless()
      const service = await start({ watch })
      const peer = await service.peer()
      peer.send(watchOf(1))
      await peer.until(() => peer.bytesOf(1) === 65_535)
      peer.send(resetOf(1, constants[`NGHTTP2_${code}`]))
      await vi.waitFor(() => expect(ended).toHaveBeenCalledOnce(), patience)
      peer.send(callOf(3, 'next'), windowOf(0, 65_535))
      expect(await peer.answer(3)).toMatchObject({ status: '0', body: messageOf('next') })
    },
  )

  it.each(['NO_ERROR', 'CANCEL', 'INTERNAL_ERROR'] as const)(
    'is not taken for a whole one when its caller resets it with %s',
    async (code) => {
      const { calls, call, letGo } = waiting()
      letGo()
      const service = await start({ call })
      const peer = await service.peer()
      const zipped = fieldsOf('/test.Test/Call', ['grpc-encoding', 'gzip'])
      peer.send(headersOf(1, zipped), dataOf(1, messageOf(gzipSync('a'), 1)))
      // An answer on the same way tells that the first part has come.
      peer.send(callOf(3, 'a', fieldsOf('/test.Test/Unknown')))
      await peer.answer(3)
      peer.send(resetOf(1, constants[`NGHTTP2_${code}`]))
      peer.send(callOf(5, 'a', fieldsOf('/test.Test/Unknown')))
      await peer.answer(5)
      expect(calls).toHaveLength(0)
    },
  )

  it('keeps no connection within the process once its caller has gone', async () => {
    const ended: string[] = []
    const observer = new PerformanceObserver((list) => {
      for (const { name, detail } of list.getEntries() as (PerformanceEntry & { detail: { type: string } })[])
        if (name === 'Http2Session') ended.push(detail.type)
    })
    observer.observe({ entryTypes: ['http2'] })
    closing.add(() => observer.disconnect())
    const service = await start()
    const peers = await Promise.all(Array.from({ length: 20 }, () => service.peer()))
    for (const peer of peers) {
      peer.send(watchOf(1), watchOf(3), callOf(5, 'a', fieldsOf('/test.Test/Unknown')))
      await Promise.all([peer.answer(1), peer.answer(3), peer.answer(5)])
    }
    for (const peer of peers) peer.close()
    const clients = () => ended.filter((type) => type === 'client')
    // Connections of tests before may end meanwhile too.
    await vi.waitFor(() => expect(clients().length).toBeGreaterThanOrEqual(peers.length), patience)
  })
})

describe('large requests at once', () => {
  it('come whole, those of methods and those that the library has', async () => {
    const service = await start()
    const { client, close } = connect(service.port)
    closing.add(close)
    const same = (bytes: Buffer) => bytes
    const large = Buffer.alloc(4 * 1024 * 1024, 'y')
    const uploads = Array.from({ length: 4 }, () => {
      const answer = new Promise<string>((resolve, reject) => {
        const call = client.makeClientStreamRequest('/test.Test/Upload', same, same, (error, response) =>
          error ? reject(error) : resolve(String(response)),
        )
        for (let part = 0; part < 4; part++) call.write(large.subarray(part))
        call.end()
      })
      return answer
    })
    const raw = await service.raw()
    const calls = Array.from({ length: 4 }, () => raw.call(messageOf(large)))
    const echoed = async () => (await Promise.all(calls)).map(({ body }) => body.equals(messageOf(large)))
    expect(await Promise.all(uploads)).toEqual(Array(4).fill(String(4 * large.length - 6)))
    expect(await echoed()).toEqual(Array(4).fill(true))
  })

  it('do not hold up others while nobody reads them', async () => {
    const { client, readers } = await open()
    const part = Buffer.alloc(16_384)
    for (const id of [1, 3, 5, 7])
      client.send(headersOf(id), ...Array.from({ length: 64 }, () => dataOf(id, part)))
    await client.sync()
    expect(readers.map(({ bytes, code }) => ({ bytes, code }))).toEqual(
      Array(4).fill({ bytes: 1024 * 1024, code: null }),
    )
    expect(client.ofType(frameTypes.windowUpdate).filter(({ id }) => id !== 0)).toEqual([])
  })
})
