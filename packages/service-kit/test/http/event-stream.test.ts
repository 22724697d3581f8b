import { once } from 'node:events'
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { EventStream, EventStreams, eventText } from '../../src/http/event-stream.js'

const retryMs = { least: 1000, most: 2000 }
const large = eventText({ data: 'x'.repeat(8 * 1024 * 1024) })
const closing: (() => void)[] = []

afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** Connects a client that reads nothing yet, and returns its answer, which has not begun. */
async function connect() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const arriving = once(server, 'request')
  const request = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' })
  request.on('error', () => {})
  closing.push(() => {
    request.destroy()
    server.closeAllConnections()
    server.close()
  })
  const [, response] = (await arriving) as [IncomingMessage, ServerResponse]
  const incoming = once(request, 'response').then(([answer]) => {
    const given = answer as IncomingMessage
    given.on('error', () => {})
    return given.pause()
  })
  // Some tests do not read the answer.
  incoming.catch(() => {})
  return { request, response, incoming }
}

/** Returns what a client reads until its stream ends. */
async function readAll(incoming: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of incoming) text += String(chunk)
  return text
}

describe('EventStream', () => {
  it('begins with the time until a reconnect, which differs from client to client', async () => {
    const times = new Set<string>()
    for (let client = 0; client < 5; client += 1) {
      const { response, incoming } = await connect()
      new EventStream(
        response,
        { retryMs, stallMs: 60_000 },
        eventText({ id: 1, event: 'one', data: {} }),
      ).end()
      const [retry = '', ...events] = (await readAll(await incoming)).split('\n\n')
      expect(events).toEqual(['id: 1\nevent: one\ndata: {}', ''])
      const ms = Number(/^retry: (\d+)$/.exec(retry)?.[1])
      expect(ms >= retryMs.least && ms <= retryMs.most).toBe(true)
      times.add(retry)
    }
    expect(times.size).toBeGreaterThan(1)
  })

  it('waits for a client that reads slowly, and sends it everything', async () => {
    const { response, incoming } = await connect()
    const stream = new EventStream(response, { retryMs, stallMs: 60_000 }, large)
    expect([stream.isBehind, stream.send(large)]).toEqual([true, false])
    const drained = stream.drained()
    expect(await Promise.race([drained, delay(100, 'waits')])).toBe('waits')
    const reading = readAll(await incoming)
    expect(await drained).toBe(true)
    stream.end(eventText({ event: 'close', data: null }))
    const text = await reading
    expect(text.endsWith(`${large}${large}event: close\ndata: null\n\n`)).toBe(true)
  })

  it('disconnects a client that reads nothing, before and after the end of its stream', async () => {
    for (const ends of [false, true]) {
      const { response } = await connect()
      const stream = new EventStream(response, { retryMs, stallMs: 100 }, large)
      if (ends) stream.end()
      await expect.poll(() => response.destroyed).toBe(true)
      expect([await stream.drained(), stream.send(large)]).toEqual([false, false])
    }
  })

  it('disconnects a client with more unread data than allowed', async () => {
    const { response } = await connect()
    const stream = new EventStream(response, { retryMs, stallMs: 60_000, unreadBytesMax: 1024 }, large)
    expect(response.destroyed).toBe(false)
    stream.send(large)
    expect(response.destroyed).toBe(true)
  })

  it('does not wait for a client that goes away', async () => {
    const { request, response } = await connect()
    const stream = new EventStream(response, { retryMs, stallMs: 60_000 }, large)
    const drained = stream.drained()
    request.destroy()
    expect(await drained).toBe(false)
    const listeners = ['drain', 'close'].map((event) => response.listenerCount(event))
    expect(Math.max(...listeners)).toBeLessThan(5)
  })
})

describe('EventStreams', () => {
  it('end when they are closed, even those that begin later, and count the open ones', async () => {
    const streams = new EventStreams({ retryMs, stallMs: 60_000 })
    const first = await connect()
    streams.open(first.response, eventText({ data: 1 }))
    expect(streams.size).toBe(1)
    streams.close()
    expect(await readAll(await first.incoming)).toMatch(/^retry: \d+\n\ndata: 1\n\n$/)
    const late = await connect()
    streams.open(late.response, eventText({ data: 2 }))
    expect(await readAll(await late.incoming)).toMatch(/^retry: \d+\n\ndata: 2\n\n$/)
    await expect.poll(() => streams.size).toBe(0)
  })

  it('forget a client that left before its stream began', async () => {
    const streams = new EventStreams({ retryMs, stallMs: 60_000 })
    const { request, response } = await connect()
    request.destroy()
    await once(response, 'close')
    expect(streams.open(response, eventText({ data: 1 })).send(eventText({ data: 2 }))).toBe(false)
    expect(streams.size).toBe(0)
    streams.close()
  })
})
