import { EventEmitter, once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createToken, createUser } from '@switchyard/testing'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createStreams } from '../src/stream/streams.js'
import { type Metrics, startHarness } from './harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())
beforeEach(() => harness.redis.flushall())

/** Events of a stream as they come, until it is closed. */
function listen(response: Response) {
  const events: { event: string; data: Metrics & { message?: string } }[] = []
  let text = ''
  let ended = false
  const reader = response.body?.getReader()
  const reading = (async () => {
    for (;;) {
      const chunk = await reader?.read().catch(() => undefined)
      if (!chunk || chunk.done) break
      text += Buffer.from(chunk.value).toString()
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) {
        const [, event = '', data = ''] = /^event: (\w+)\ndata: (.*)$/s.exec(block) ?? []
        if (event) events.push({ event, data: JSON.parse(data) })
      }
    }
    ended = true
  })()
  return { events, ended: () => ended, close: () => reader?.cancel().then(() => reading) }
}

it('answers 401 without a token, 403 without the right, 400 for a flag that is none', async () => {
  expect((await harness.get('guest', '/jobqueue/stream')).status).toBe(401)
  expect((await harness.get('user', '/jobqueue/stream')).status).toBe(403)
  expect((await harness.get('admin', '/jobqueue/stream?extended=maybe')).status).toBe(400)
})

it('answers HEAD without opening a stream', async () => {
  const head = (query: string) => harness.get('admin', `/jobqueue/stream${query}`, { method: 'HEAD' })
  expect((await head('')).status).toBe(204)
  expect((await head('?source=nobody')).status).toBe(400)
})

it.each(['/jobqueue', '/sidekiq'])(
  'sends the compound metrics of %s at once, and again when they have changed',
  async (base) => {
    const response = await harness.get('scraper', `${base}/stream`)
    expect(response.headers.get('Content-Type')).toBe('text/event-stream')
    const stream = listen(response)
    await expect.poll(() => stream.events.length).toBe(1)
    expect(stream.events[0]).toEqual({ event: 'metrics', data: await harness.metrics() })
    const queue = await harness.queue('mail')
    await queue.add('job', {}, { delay: 3_600_000 })
    await expect.poll(() => stream.events.at(-1)?.data.jobs.scheduled).toBe(1)
    await stream.close()
  },
)

it('tells when the figures cannot be had, and goes on when they can again', async () => {
  const stream = listen(await harness.get('admin', '/jobqueue/stream'))
  await expect.poll(() => stream.events.at(-1)?.event).toBe('metrics')
  await harness.testRedis.kill()
  await expect.poll(() => stream.events.at(-1)?.event).toBe('unavailable')
  expect(stream.events.at(-1)?.data.message).toBe('the job queue source switchyard does not answer')
  await harness.testRedis.restart()
  await expect.poll(() => stream.events.at(-1)?.event).toBe('metrics')
  await stream.close()
})

it('ends within a second after the token was revoked, while others go on', async () => {
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
  await expect.poll(victim.ended, { timeout: 4000 }).toBe(true)
  // A second by its rules, and one for a busy machine.
  expect(Date.now() - revokedAtMs).toBeLessThan(2000)
  expect(other.ended()).toBe(false)
  await other.close()
})

it('tells a listener who came between two looks of a change back to the state before', async () => {
  let state = 'before'
  const streams = createStreams({ intervalMs: 300, lifeMs: 60_000 })
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

it('keeps no listener who went away before the first event', async () => {
  const events = new EventEmitter()
  const streams = createStreams({ intervalMs: 50, lifeMs: 60_000 })
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
  events.emit('state')
  await opened
  expect(streams.size).toBe(0)
  server.close()
})

it('costs one look at the state for any number of listeners, ends them in time, and ends all when it closes', async () => {
  let looks = 0
  const streams = createStreams({ intervalMs: 50, lifeMs: 700 })
  const server = createServer((_request, response: ServerResponse) => {
    void streams.open(response, 'one', async () => ({ looks: ++looks }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const open = async () => listen(await fetch(`http://127.0.0.1:${port}`))
  const listeners = await Promise.all(Array.from({ length: 20 }, open))
  expect(streams.size).toBe(20)
  const before = looks
  await expect.poll(() => listeners.every(({ events }) => events.length > 3)).toBe(true)
  const last = listeners.map(({ events }) => events.length)
  expect(looks - before).toBeLessThanOrEqual(Math.max(...last) + 20)
  await expect.poll(() => listeners.every(({ ended }) => ended())).toBe(true)
  expect(streams.size).toBe(0)
  const late = await open()
  streams.close()
  await expect.poll(() => late.ended()).toBe(true)
  server.close()
})
