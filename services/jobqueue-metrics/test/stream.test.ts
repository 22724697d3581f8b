import { EventEmitter, once } from 'node:events'
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { createSession, createToken, createUser, eventsOf } from '@switchyard/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createStateStreams } from '../src/snapshots/state-streams.js'
import { type Metrics, startHarness } from './harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())
beforeEach(() => harness.redis.flushall())

/** Collects events of a stream until it is closed. */
function listen(response: Response) {
  const events: { event: string; data: Metrics & { message?: string } }[] = []
  let ended = false
  const reader = eventsOf(response).getReader()
  const reading = (async () => {
    for (;;) {
      const { value } = await reader.read().catch(() => ({ value: undefined }))
      if (!value) break
      if (value.event) events.push({ event: value.event, data: JSON.parse(value.data) })
    }
    ended = true
  })()
  return { events, ended: () => ended, close: () => reader.cancel().then(() => reading) }
}

it('a stream answers 401 without a token, 403 without the right, 400 for an invalid flag', async () => {
  expect((await harness.get('guest', '/jobqueue/stream')).status).toBe(401)
  expect((await harness.get('user', '/jobqueue/stream')).status).toBe(403)
  expect((await harness.get('admin', '/jobqueue/stream?extended=maybe')).status).toBe(400)
})

it('a stream is open to the session of a browser, and ends within a second of the session', async () => {
  const { database } = harness
  const { token } = await createToken(database, await createUser(database, { admin: true }))
  const Cookie = await createSession(database, token)
  const response = await harness.get('guest', '/jobqueue/stream', { headers: { Cookie } })
  expect(response.status).toBe(200)
  const stream = listen(response)
  await expect.poll(() => stream.events.length).toBe(1)
  await database.prisma.session.deleteMany({ where: { tokenId: token.id } })
  await expect.poll(stream.ended).toBe(true)
  expect((await harness.get('guest', '/jobqueue/stream', { headers: { Cookie } })).status).toBe(401)
})

it('HEAD of a stream is answered without opening it', async () => {
  const head = (query: string) => harness.get('admin', `/jobqueue/stream${query}`, { method: 'HEAD' })
  const answered = await head('')
  expect([answered.status, answered.headers.get('content-type')]).toEqual([
    200,
    'text/event-stream; charset=utf-8',
  ])
  expect((await head('?source=nobody')).status).toBe(400)
})

it.each(['/jobqueue', '/sidekiq'])(
  'sends the compound metrics of %s at once, and again when they have changed',
  async (base) => {
    const response = await harness.get('scraper', `${base}/stream`)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    })
    const stream = listen(response)
    await expect.poll(() => stream.events.length).toBe(1)
    expect(stream.events[0]).toEqual({ event: 'metrics', data: await harness.metrics() })
    const queue = await harness.queue('mail')
    await queue.add('job', {}, { delay: 3_600_000 })
    await expect.poll(() => stream.events.at(-1)?.data.jobs.scheduled).toBe(1)
    await stream.close()
  },
)

it('a stream reports when the metrics are unavailable, and continues when they are available again', async () => {
  const stream = listen(await harness.get('admin', '/jobqueue/stream'))
  await expect.poll(() => stream.events.at(-1)?.event).toBe('metrics')
  await harness.testRedis.kill()
  await expect.poll(() => stream.events.at(-1)?.event).toBe('unavailable')
  expect(stream.events.at(-1)?.data.message).toBe('the job queue source switchyard does not answer')
  await harness.testRedis.restart()
  await expect.poll(() => stream.events.at(-1)?.event).toBe('metrics')
  await stream.close()
})

it('a stream ends within a second after its token was revoked, while others continue', async () => {
  const user = await createUser(harness.database)
  const { secret, token } = await createToken(harness.database, user, { scopes: ['read_metrics'] })
  const victim = listen(
    await fetch(`${harness.baseUrl}/api/v4/jobqueue/stream`, { headers: { 'PRIVATE-TOKEN': secret } }),
  )
  const other = listen(await harness.get('admin', '/jobqueue/stream'))
  await expect.poll(() => victim.events.length).toBe(1)
  await harness.database.prisma.personalAccessToken.update({
    where: { id: token.id },
    data: { revokedAt: new Date() },
  })
  const revokedAtMs = Date.now()
  await expect.poll(victim.ended).toBe(true)
  // A second by design, and another one for a busy machine.
  expect(Date.now() - revokedAtMs).toBeLessThan(2000)
  expect(other.ended()).toBe(false)
  await other.close()
})

it('a listener that joined between two reads receives a change back to the former state', async () => {
  let state = 'before'
  const streams = createStateStreams({ intervalMs: 300, lifeMs: 60_000 })
  const server = createServer((_request, response: ServerResponse) => {
    void streams.open(response, 'one', async () => ({ message: state }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const open = async () => listen(await fetch(`http://127.0.0.1:${port}`))
  const messages = ({ events }: ReturnType<typeof listen>) => events.map(({ data }) => data.message)
  const first = await open()
  await expect.poll(() => messages(first)).toEqual(['before'])
  state = 'meanwhile'
  const second = await open()
  await expect.poll(() => messages(second)).toEqual(['meanwhile'])
  state = 'before'
  await expect.poll(() => messages(second)).toEqual(['meanwhile', 'before'])
  expect(messages(first)).toEqual(['before', 'meanwhile', 'before'])
  streams.close()
  server.close()
})

it('a listener that disconnected before the first event is removed', async () => {
  const events = new EventEmitter()
  const streams = createStateStreams({ intervalMs: 50, lifeMs: 60_000 })
  const server = createServer(async (_request, response: ServerResponse) => {
    response.once('close', () => events.emit('gone'))
    await streams.open(response, 'one', () => once(events, 'state'))
    events.emit('opened')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = new AbortController()
  const asked = once(server, 'request')
  const answer = fetch(`http://127.0.0.1:${port}`, { signal: client.signal })
  await asked
  const gone = once(events, 'gone')
  client.abort()
  await expect(answer).rejects.toThrow()
  await gone
  const opened = once(events, 'opened')
  let reads = 0
  events.on('state', () => {
    reads += 1
  })
  events.emit('state')
  await opened
  // The state of a leaked listener would be read every 50 ms.
  const listening = events.listenerCount('state')
  await delay(200)
  expect([reads, events.listenerCount('state')]).toEqual([1, listening])
  server.close()
})

it('any number of listeners costs one read of the state; streams end in time, and closing ends all of them, including new ones', async () => {
  let looks = 0
  const streams = createStateStreams({ intervalMs: 50, lifeMs: 700 })
  const server = createServer((_request, response: ServerResponse) => {
    void streams.open(response, 'one', async () => ({ looks: ++looks }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const open = async () => listen(await fetch(`http://127.0.0.1:${port}`))
  const listeners = await Promise.all(Array.from({ length: 20 }, open))
  const before = looks
  await expect.poll(() => listeners.every(({ events }) => events.length > 3)).toBe(true)
  const last = listeners.map(({ events }) => events.length)
  expect(looks - before).toBeLessThanOrEqual(Math.max(...last) + 20)
  await expect.poll(() => listeners.every(({ ended }) => ended())).toBe(true)
  const late = await open()
  streams.close()
  await expect.poll(() => late.ended()).toBe(true)
  const tooLate = await open()
  await expect.poll(() => tooLate.ended()).toBe(true)
  expect(tooLate.events).toHaveLength(1)
  server.close()
})

describe('a client that reads nothing', () => {
  /** Starts a server whose state changes at every read, and is larger than the buffer of a connection. */
  async function startServer(stallMs: number) {
    const large = 'x'.repeat(8 * 1024 * 1024)
    let reads = 0
    const responses: ServerResponse[] = []
    const streams = createStateStreams({ intervalMs: 20, lifeMs: 60_000, stallMs })
    const server = createServer((_request, response: ServerResponse) => {
      responses.push(response)
      void streams.open(response, 'one', async () => ({ state: ++reads, large }))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const request = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' })
    const [incoming] = (await once(request, 'response')) as [IncomingMessage]
    // Its connection breaks when the server disconnects it.
    incoming.on('error', () => {})
    incoming.pause()
    return {
      incoming,
      reads: () => reads,
      response: () => responses[0] as ServerResponse,
      close() {
        streams.close()
        request.destroy()
        server.closeAllConnections()
        server.close()
      },
    }
  }

  it('has at most one waiting event, and receives the newest one when it reads again', async () => {
    const { incoming, reads, response, close } = await startServer(60_000)
    await expect.poll(reads).toBeGreaterThan(10)
    expect(response().writableLength).toBeLessThan(9 * 1024 * 1024)
    const before = reads()
    const states: number[] = []
    incoming.on('data', (chunk: Buffer) => {
      for (const [, state] of chunk.toString('latin1').matchAll(/"state":(\d+),/g)) states.push(Number(state))
    })
    incoming.resume()
    await expect.poll(() => states.length).toBeGreaterThan(1)
    expect(states[0]).toBe(1)
    expect(states[1]).toBeGreaterThanOrEqual(before)
    close()
  })

  it('is disconnected after a while', async () => {
    const { response, close } = await startServer(300)
    await expect.poll(() => response().destroyed).toBe(true)
    close()
  })
})

describe('streams of one user', () => {
  it('are limited: 429 with Retry-After, and a new slot when one of them has ended', async () => {
    const open = () => harness.get('scraper', '/jobqueue/stream')
    const streams = (await Promise.all(Array.from({ length: 50 }, open))).map(listen)
    await expect.poll(() => streams.every(({ events }) => events.length > 0)).toBe(true)
    const refused = await open()
    expect([refused.status, refused.headers.get('Retry-After'), await refused.json()]).toMatchObject([
      429,
      '30',
      {
        message: {
          error: 'Too many streams of this user or address are open. Close one, or try again later.',
        },
      },
    ])
    // Other users at the same address are not affected.
    const other = await harness.get('admin', '/jobqueue/stream')
    expect(other.status).toBe(200)
    await listen(other).close()
    // Other requests are not streams.
    expect((await harness.get('scraper', '/jobqueue/job_stats')).status).toBe(200)
    await streams[0]?.close()
    const opened: Response[] = []
    await expect
      .poll(async () => {
        opened.push(await open())
        return opened.at(-1)?.status
      })
      .toBe(200)
    await Promise.all([...streams, ...opened.map(listen)].map((stream) => stream.close()))
  })
})
