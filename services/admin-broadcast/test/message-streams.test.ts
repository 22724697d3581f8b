import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { latenessAt } from '@switchyard/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type EventStream, openStream } from './event-stream.js'
import { json, startHarness } from './harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let other: Awaited<ReturnType<typeof harness.startReplica>>
beforeAll(async () => {
  harness = await startHarness()
  other = await harness.startReplica()
})
afterAll(async () => {
  await other?.close()
  await harness?.close()
})

const path = '/broadcast_messages'
type Message = Record<string, unknown> & { id: number }
const open: EventStream[] = []

async function follow(baseUrl: string, query = '') {
  const stream = await openStream(`${baseUrl}/api/v4${path}/stream${query}`)
  open.push(stream)
  return stream
}

/** Follows a replica once it has noticed that the messages of the last test are deleted. */
async function followEmpty(baseUrl: string) {
  for (;;) {
    const stream = await follow(baseUrl)
    await expect.poll(() => stream.events.length).toBeGreaterThan(0)
    if (isDeepStrictEqual(heard(stream), [['snapshot', []]])) return stream
    stream.close()
  }
}

const send = async (verb: string, url: string, fields: Record<string, unknown> = {}) => {
  const response = await harness.send('admin', verb, url, json(fields))
  expect(response.ok).toBe(true)
  return (response.status === 204 ? {} : await response.json()) as Message
}
const heard = (stream: EventStream) =>
  stream.events.map(({ event, data }) => [event, data.message ?? data.id ?? data.messages])

beforeEach(async () => {
  const all = await harness.send('admin', 'GET', path)
  for (const { id } of (await all.json()) as Message[]) await send('DELETE', `${path}/${id}`)
})
afterEach(() => {
  for (const stream of open.splice(0)) stream.close()
})

describe('GET /broadcast_messages/stream', () => {
  it('begins with the active messages, for guests and any site, and is neither buffered nor cached', async () => {
    await send('POST', path, { message: 'On' })
    const stream = await follow(harness.baseUrl)
    await expect.poll(() => stream.events).toHaveLength(1)
    expect(stream.events[0]).toMatchObject({ event: 'snapshot', data: { messages: [{ message: 'On' }] } })
    expect(Object.fromEntries(stream.response.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'access-control-allow-origin': '*',
    })
  })

  it('sends followers of every replica the messages that appear, change and disappear', async () => {
    const streams = [await followEmpty(harness.baseUrl), await followEmpty(other.baseUrl)]
    const { id } = await send('POST', path, { message: 'One' })
    await expect.poll(() => streams.map(({ events }) => events.length)).toEqual([2, 2])
    await send('PUT', `${path}/${id}`, { message: 'Two' })
    await expect.poll(() => streams.map(({ events }) => events.length)).toEqual([3, 3])
    await send('DELETE', `${path}/${id}`)
    await expect.poll(() => streams.map(({ events }) => events.length)).toEqual([4, 4])
    for (const stream of streams) {
      expect(heard(stream)).toEqual([
        ['snapshot', []],
        ['start', 'One'],
        ['change', 'Two'],
        ['end', id],
      ])
    }
  })

  it('sends nothing about inactive messages', async () => {
    const stream = await follow(harness.baseUrl)
    const { id } = await send('POST', path, { starts_at: '2040-01-01', ends_at: '2041-01-01', message: 'x' })
    await send('PUT', `${path}/${id}`, { message: 'y' })
    await send('DELETE', `${path}/${id}`)
    await send('POST', path, { message: 'Last' })
    await expect
      .poll(() => heard(stream))
      .toEqual([
        ['snapshot', []],
        ['start', 'Last'],
      ])
  })

  it('sends a page the messages that appear on it and leave it, when it gives its path', async () => {
    const stream = await follow(harness.baseUrl, '?path=/a/b')
    const { id } = await send('POST', path, { message: 'Elsewhere', target_path: '/c' })
    await send('PUT', `${path}/${id}`, { message: 'Here', target_path: '/a/*' })
    await send('PUT', `${path}/${id}`, { message: 'Still here', target_path: '*/b' })
    await send('PUT', `${path}/${id}`, { message: 'Gone', target_path: '/c' })
    await expect
      .poll(() => heard(stream))
      .toEqual([
        ['snapshot', []],
        ['start', 'Here'],
        ['change', 'Still here'],
        ['end', id],
      ])
  })

  it('continues while Redis is unreachable, with a delay of about a second on other replicas', async () => {
    const stream = await follow(other.baseUrl)
    await harness.testRedis.kill()
    try {
      await send('POST', path, { message: 'Without Redis' })
      const madeAtMs = performance.now()
      await expect.poll(() => heard(stream)).toContainEqual(['start', 'Without Redis'])
      expect(performance.now() - madeAtMs).toBeLessThan(3000)
    } finally {
      await harness.testRedis.restart()
    }
  })

  it('starts and ends messages on time, even without a worker', async () => {
    const stream = await follow(harness.baseUrl)
    const startsAt = new Date(Date.now() + 700)
    const endsAt = new Date(startsAt.getTime() + 700)
    const { id } = await send('POST', path, {
      message: 'Short',
      starts_at: startsAt.toISOString(),
      ends_at: endsAt.toISOString(),
    })
    const lateness = Promise.all([latenessAt(startsAt), latenessAt(endsAt)])
    await expect.poll(() => heard(stream)).toContainEqual(['end', id])
    const [, start, end] = stream.events
    expect(heard(stream).slice(1)).toEqual([
      ['start', 'Short'],
      ['end', id],
    ])
    for (const [event, due] of [
      [start, startsAt],
      [end, endsAt],
    ] as const) {
      const lateMs = (event?.atMs ?? 0) - due.getTime()
      expect(lateMs).toBeGreaterThanOrEqual(0)
      // The allowed delay for the worker's notice, plus the lateness of a busy machine.
      expect(lateMs).toBeLessThan(1000 + Math.max(...(await lateness)))
    }
  })

  it('refuses a path that is not a text, an unknown parameter, an invalid token, and a wrong verb', async () => {
    expect((await follow(harness.baseUrl, '?path[a]=b')).response.status).toBe(400)
    for (const list of ['stream', 'active']) {
      const unknown = await harness.send('guest', 'GET', `${path}/${list}?target_path=/a`)
      expect(unknown.status).toBe(400)
      expect(await unknown.json()).toMatchObject({ error: 'target_path is not a parameter' })
      expect((await harness.send('guest', 'HEAD', `${path}/${list}?target_path=`)).ok).toBe(true)
    }
    expect((await harness.send('unknown', 'GET', `${path}/stream`)).status).toBe(401)
    expect((await harness.send('admin', 'POST', `${path}/stream`)).status).toBe(405)
    const head = await harness.send('guest', 'HEAD', `${path}/stream`)
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
  })
})

describe('streams', () => {
  it('are limited in number; a further client is asked to retry, and gets the slot of one that left', async () => {
    const small = await harness.startReplica({ BROADCAST_STREAM_CLIENTS_MAX: '2' })
    const first = await follow(small.baseUrl)
    await follow(small.baseUrl)
    const refused = await follow(small.baseUrl)
    expect([refused.response.status, refused.response.headers.get('Retry-After')]).toEqual([503, '30'])
    expect(await (await fetch(`${small.baseUrl}/metrics`)).text()).toContain(
      'broadcast_stream_clients{service="admin-broadcast"} 2',
    )
    first.close()
    await expect.poll(async () => (await follow(small.baseUrl)).response.status).toBe(200)
    await small.close()
  })

  it('of one address are limited below the total: 429, and the stream opens once another one is closed', async () => {
    const replica = await harness.startReplica({ BROADCAST_STREAM_CLIENTS_PER_ADDRESS_MAX: '2' })
    const first = await follow(replica.baseUrl)
    await follow(replica.baseUrl)
    const { response } = await follow(replica.baseUrl)
    expect([response.status, response.headers.get('Retry-After'), await response.json()]).toMatchObject([
      429,
      '30',
      {
        message: {
          error: 'Too many streams of this user or address are open. Close one, or try again later.',
        },
      },
    ])
    expect((await fetch(`${replica.baseUrl}/api/v4${path}/active`)).status).toBe(200)
    first.close()
    await expect.poll(async () => (await follow(replica.baseUrl)).response.status).toBe(200)
    await replica.close()
  })

  it('receive a ping every 15 seconds, so that proxies do not close them as idle', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const replica = await harness.startReplica()
    try {
      const stream = await follow(replica.baseUrl)
      await expect.poll(() => stream.events).toHaveLength(1)
      for (const heard of [1, 2]) {
        vi.advanceTimersByTime(15_000)
        await expect.poll(() => stream.comments).toBe(heard)
      }
      const [snapshot, ...pings] = stream.events
      expect(snapshot?.event).toBe('snapshot')
      // Browsers do not pass comments to a page, so an event shows that the stream still works, and the time.
      expect(pings).toEqual(
        pings.map(() =>
          expect.objectContaining({ event: 'ping', data: { now: expect.stringMatching(/Z$/) } }),
        ),
      )
      expect(pings).toHaveLength(stream.comments)
    } finally {
      vi.useRealTimers()
      await replica.close()
    }
  })

  it('are ended cleanly and quickly when the process stops', async () => {
    const replica = await harness.startReplica()
    const streams = await Promise.all([follow(replica.baseUrl), follow(replica.baseUrl)])
    const startedAtMs = performance.now()
    const closed = replica.close()
    await Promise.all(streams.map(({ ended }) => ended))
    await closed
    expect(performance.now() - startedAtMs).toBeLessThan(4000)
  })

  it('without a reader are disconnected, so that they cannot fill the memory', async () => {
    const replica = await harness.startReplica()
    const { port } = new URL(replica.baseUrl)
    const { connect } = await import('node:net')
    const socket = connect(Number(port), '127.0.0.1')
    socket.on('error', () => {})
    socket.write(`GET /api/v4${path}/stream HTTP/1.1\r\nHost: x\r\n\r\n`)
    socket.pause()
    const clients = async () =>
      /broadcast_stream_clients\{[^}]*\} (\d+)/.exec(
        await (await fetch(`${replica.baseUrl}/metrics`)).text(),
      )?.[1]
    await expect.poll(clients).toBe('1')
    const { id } = await send('POST', path, { message: 'x' })
    const message = 'x'.repeat(900_000)
    for (let round = 0; round < 60 && (await clients()) === '1'; round += 1) {
      await send('PUT', `${path}/${id}`, { message: message + round })
      await delay(20)
    }
    expect(await clients()).toBe('0')
    socket.destroy()
    await replica.close()
  })
})
