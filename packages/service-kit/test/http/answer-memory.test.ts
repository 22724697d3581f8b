import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { notFound } from '@switchyard/domain'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { createHttpApp, endpoint, type HttpServer, listen, ok, route } from '../../src/http/index.js'
import { createServiceContext } from '../../src/lifecycle/index.js'

const mebibyte = 1024 * 1024
const text = 'x'.repeat(40 * mebibyte)

let server: HttpServer
const readers: Socket[] = []
let reading = 0
let endReading = () => {}
const readingEnds = new Promise<void>((resolve) => {
  endReading = resolve
})

beforeAll(async () => {
  const large = endpoint({ input: z.object({}), handle: async () => ok({ text }) })
  const small = endpoint({ input: z.object({}), handle: async () => ok({ text: 'small' }) })
  const held = endpoint({
    input: z.object({}),
    handle: async (_input, _access, call) => {
      await call.holdAnswer(100 * mebibyte)
      reading += 1
      await readingEnds
      return ok({ text: 'read' })
    },
  })
  const described = endpoint({
    input: z.object({}),
    handle: async (_input, _access, call) => {
      call.raw.response.set({ 'Content-Length': '1000000', ETag: '"x"', 'Content-Range': 'bytes 0-1/2' })
      throw notFound('Object')
    },
  })
  const app = createHttpApp({
    ...createServiceContext('demo', 'silent'),
    routes: [
      route('GET', '/large', () => null, large),
      route('GET', '/small', () => null, small),
      route('GET', '/held', () => null, held),
      route('GET', '/described', () => null, described),
    ],
    authenticate: async () => null,
    rateLimitPerMinute: 0,
  })
  server = await listen(app, '127.0.0.1', 0, 1000)
})
afterAll(async () => {
  for (const reader of readers) reader.destroy()
  await server?.close()
})

/** Requests the large answer and reads only its beginning. */
async function askWithoutReading(address: string): Promise<string> {
  const socket = connect(server.port, '127.0.0.1')
  readers.push(socket)
  socket.write(`GET /api/v4/large HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: ${address}\r\n\r\n`)
  const [chunk] = (await once(socket, 'data')) as [Buffer]
  socket.pause()
  return chunk.toString('latin1', 0, 12)
}

async function ask(path: string, address: string) {
  const headers = { 'X-Forwarded-For': address }
  const answer = await fetch(`http://127.0.0.1:${server.port}/api/v4${path}`, { headers })
  const { byteLength } = await answer.arrayBuffer()
  return { status: answer.status, retryAfter: answer.headers.get('retry-after'), byteLength }
}

it('large answers that one address does not read leave memory for others, and count until they are gone', async () => {
  for (let number = 0; number < 3; number += 1)
    expect(await askWithoutReading('203.0.113.1')).toBe('HTTP/1.1 200')
  expect((await ask('/large', '203.0.113.2')).byteLength).toBeGreaterThan(text.length)
  const waiting = Array.from({ length: 5 }, () => ask('/large', '203.0.113.1'))
  const refused = await Promise.race(waiting)
  expect(refused).toMatchObject({ status: 429, retryAfter: '30' })
  expect((await ask('/small', '203.0.113.1')).status).toBe(200)
  for (const reader of readers) reader.destroy()
  const answers = await Promise.all(waiting)
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 429])
})

it('an endpoint that names its memory reads only when the share of its sender has room', async () => {
  const answers = [ask('/held', '203.0.113.3'), ask('/held', '203.0.113.3')]
  await expect.poll(() => reading).toBe(1)
  await ask('/small', '203.0.113.3')
  expect(reading).toBe(1)
  endReading()
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200])
})

it('a refusal is answered whole, although the endpoint had described another body', async () => {
  const response = await fetch(`http://127.0.0.1:${server.port}/api/v4/described`)
  expect([response.status, response.headers.get('ETag'), response.headers.get('Content-Range')]).toEqual([
    404,
    null,
    null,
  ])
  expect(await response.json()).toMatchObject({ message: '404 Object Not Found' })
})
