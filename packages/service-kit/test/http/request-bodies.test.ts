import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import {
  createHttpApp,
  endpoint,
  flag,
  type HttpServer,
  integer,
  list,
  listen,
  ok,
  proseCharsMax,
  route,
  text,
  time,
} from '../../src/http/index.js'
import { createServiceContext } from '../../src/lifecycle/index.js'

const input = z.object({
  note: text(proseCharsMax).optional(),
  count: integer().default(7),
  deep: flag().optional(),
  since: time().optional(),
  sort: z.enum(['asc', 'desc']).default('asc'),
  words: list(text()).optional(),
  actions: list(z.object({ name: text(), size: integer().optional() }), 1000).optional(),
})
const echo = endpoint({ input, handle: async (fields) => ok(fields) })

let server: HttpServer
let base: string

beforeAll(async () => {
  const app = createHttpApp({
    ...createServiceContext('demo', 'silent'),
    routes: [route('GET', '/echo', () => null, echo), route('POST', '/echo', () => null, echo)],
    authenticate: async () => null,
    rateLimitPerMinute: 0,
    bodyPace: { periodMs: 1000, periodBytesMin: 1000 },
  })
  server = await listen(app, '127.0.0.1', 0, 1000)
  base = `http://127.0.0.1:${server.port}/api/v4`
})
afterAll(() => server.close())

async function outcome(response: Response) {
  const { request_id: _, ...body } = (await response.json()) as Record<string, unknown>
  return [response.status, body]
}

const post = async (body: string | Buffer, headers: Record<string, string> = {}) =>
  outcome(
    await fetch(`${base}/echo`, {
      method: 'POST',
      body,
      headers: { 'Content-Type': 'application/json', ...headers },
    }),
  )

/** Starts a request whose body does not end by itself. */
function startUpload(headers: Record<string, string | number>): {
  upload: ClientRequest
  answer: Promise<IncomingMessage>
} {
  const upload = httpRequest(`${base}/echo`, { method: 'POST', headers })
  const answer = new Promise<IncomingMessage>((resolve) => {
    upload.once('response', resolve)
  })
  upload.on('error', () => {})
  return { upload, answer }
}

const tooLarge = [413, { message: '413 Request Entity Too Large' }]
const tooDeep = [400, { error: 'the parameters are nested too deeply' }]
const form = { 'Content-Type': 'application/x-www-form-urlencoded' }

it.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
])(
  'reads a body compressed with %s, and refuses what expands beyond the limit',
  async (encoding, compress) => {
    const headers = { 'Content-Encoding': encoding }
    expect(await post(compress('{"note":"a"}'), headers)).toMatchObject([200, { note: 'a' }])
    expect(await post(compress(`{"note":"${'a'.repeat(8_000_000)}"}`), headers)).toEqual(tooLarge)
    expect(await post(Buffer.from('not compressed'), headers)).toEqual([
      400,
      { error: 'the body could not be read' },
    ])
  },
)

it('refuses an unknown compression', async () => {
  expect(await post('x', { 'Content-Encoding': 'lzma' })).toEqual([
    415,
    { error: 'the body could not be read' },
  ])
})

it('refuses a chunked body without a length once it is too large', async () => {
  const { upload, answer } = startUpload({ 'Transfer-Encoding': 'chunked' })
  upload.write(`{"note":"${'a'.repeat(2 ** 21)}`)
  expect((await answer).statusCode).toBe(413)
  upload.end()
})

it('continues with the next request of a connection whose body it did not read', async () => {
  const big = Buffer.alloc(8 * 2 ** 20, 'a')
  for (let round = 0; round < 3; round += 1) {
    expect(await post(big)).toEqual(tooLarge)
    expect(await post(gzipSync(big), { 'Content-Encoding': 'gzip' })).toEqual(tooLarge)
    expect(await post('{"note":"b"}')).toMatchObject([200, { note: 'b' }])
  }
})

it('answers deep nesting with 400, in every form of a body', async () => {
  expect(await post('['.repeat(1_000_000))).toEqual(tooDeep)
  expect(await post(`{"note":${'{"a":'.repeat(150_000)}`)).toEqual(tooDeep)
  expect(await post(`a${'[b]'.repeat(300_000)}=1`, form)).toEqual(tooDeep)
  const part = `--b\r\nContent-Disposition: form-data; name="a${'[b]'.repeat(1000)}"\r\n\r\n1\r\n--b--\r\n`
  expect(await post(part, { 'Content-Type': 'multipart/form-data; boundary=b' })).toEqual(tooDeep)
  expect(await outcome(await fetch(`${base}/echo?a${'[b]'.repeat(10_000)}=1`))).toEqual(tooDeep)
})

it('refuses a list that is too long before reading its items, and names at most 20 problems', async () => {
  const zeros = (length: number) => JSON.stringify({ actions: Array.from({ length }, () => 0) })
  expect(await post(zeros(1001))).toEqual([400, { error: 'actions has more than 1000 items' }])
  expect(await post(JSON.stringify({ words: Array.from({ length: 101 }, () => 'a') }))).toEqual([
    400,
    { error: 'words has more than 100 items' },
  ])
  const [status, { error }] = (await post(zeros(1000))) as [number, { error: string }]
  expect([status, error.split(', ').length]).toEqual([400, 20])
  expect(error).toMatch(/^actions\[0\] is invalid, /)
})

it('reads names with a special meaning for JavaScript like any other', async () => {
  expect(await post('{"__proto__":{"note":"a"},"constructor":1}')).toEqual([200, { count: 7, sort: 'asc' }])
  expect(await post('__proto__[note]=a&__proto__=b', form)).toEqual([400, { error: '__proto__ is invalid' }])
  expect(await post('constructor[prototype][note]=a', form)).toEqual([200, { count: 7, sort: 'asc' }])
})

it('treats empty parameters as left out, but an empty text in a body as a text', async () => {
  const empty = 'note=&count=&deep=&since=&sort=&words=&actions[][name]=&actions[][size]='
  const expected = { count: 7, sort: 'asc', actions: [{ name: '' }] }
  expect(await post(empty, form)).toEqual([200, { note: '', ...expected }])
  expect(await outcome(await fetch(`${base}/echo?${empty}`))).toEqual([200, expected])
})

it('refuses a part of a form without a name, as curl -F =v sends it', async () => {
  const body = '--b\r\nContent-Disposition: form-data; name=""\r\n\r\nv\r\n--b--\r\n'
  expect(await post(body, { 'Content-Type': 'multipart/form-data; boundary=b' })).toEqual([
    400,
    { error: 'the form is invalid' },
  ])
})

it('refuses a value longer than the limit of its parameter', async () => {
  expect((await fetch(`${base}/echo?words[]=${'a'.repeat(4096)}`)).status).toBe(200)
  expect(await outcome(await fetch(`${base}/echo?words[]=${'a'.repeat(4097)}`))).toEqual([
    400,
    { error: 'words[0] is too long (maximum is 4096 characters)' },
  ])
})

it('answers a stalled body with 408 and closes its connection', async () => {
  const stalled = startUpload({ 'Content-Length': 1000 })
  stalled.upload.write('{')
  const response = await stalled.answer
  expect([response.statusCode, response.headers.connection]).toEqual([408, 'close'])
  expect(JSON.parse(await readText(response))).toMatchObject({ message: '408 Request Timeout' })
})

it.each([
  ['JSON', { 'Content-Length': 1_000_000 }],
  ['JSON in chunks', { 'Transfer-Encoding': 'chunked' }],
  ['compressed JSON', { 'Content-Length': 1_000_000, 'Content-Encoding': 'gzip' }],
  ['a form', { 'Content-Length': 1_000_000, ...form }],
  ['a multipart form', { 'Content-Length': 1_000_000, 'Content-Type': 'multipart/form-data; boundary=b' }],
])('answers %s that drips with 408', async (_name, headers) => {
  const { upload, answer } = startUpload(headers)
  const first = gzipSync('{"note":"a"}')
  let at = 0
  const drip = setInterval(() => {
    upload.write(first.subarray(at, at + 1))
    at += 1
  }, 100)
  try {
    expect((await answer).statusCode).toBe(408)
  } finally {
    clearInterval(drip)
    upload.destroy()
  }
})

it('reads a slow body that keeps the pace', async () => {
  const body = JSON.stringify({ note: 'a'.repeat(40_000) })
  const { upload, answer } = startUpload({ 'Content-Length': body.length })
  for (let at = 0; at < body.length; at += 1000) {
    upload.write(body.slice(at, at + 1000))
    await delay(50)
  }
  upload.end()
  expect((await answer).statusCode).toBe(200)
})

it('closes the connection of a client that goes away, and continues to serve', async () => {
  const { upload } = startUpload({ 'Content-Length': 1000 })
  upload.write('{')
  await delay(50)
  upload.destroy()
  expect(await post('{}')).toEqual([200, { count: 7, sort: 'asc' }])
})
