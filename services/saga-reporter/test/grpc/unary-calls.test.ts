import { gzipSync } from 'node:zlib'
import { type handleUnaryCall, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { createLogger } from '@switchyard/service-kit/observability'
import { afterEach, describe, expect, it } from 'vitest'
import { type AdmittedMessage, serverStream, unary } from '../../src/grpc/grpc.js'
import { connect, handledOf, startServer } from './grpc-harness.js'
import { connectRaw, frame, sendApart } from './raw-calls.js'

const logger = createLogger('test', 'silent')
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const watch = serverStream<Buffer, Buffer>(async function* () {}, logger)

/** Serves the method to a raw and to an ordinary client. */
async function start(call: handleUnaryCall<Buffer, Buffer>) {
  const server = await startServer({ call, watch })
  const raw = await connectRaw(server.port)
  const client = connect(server.port)
  closing.push(server.close, client.close, raw.close)
  return { server, raw, client }
}

/** Returns a method that answers with the length of the request, and records the requests. */
function measuring() {
  const requests: Buffer[] = []
  const call = unary<Buffer, Buffer>(async (request) => {
    requests.push(request)
    return Buffer.from(String(request.length))
  }, logger)
  return { requests, call }
}

const bytesMax = 4 * 1024 * 1024
const ok = { status: '0', details: 'OK' }

describe('a message', () => {
  it('arrives completely when each of its bytes, and of its length, has a separate frame', async () => {
    const { call, requests } = measuring()
    const { raw } = await start(call)
    const { stream, answer } = raw.open()
    await sendApart(
      stream,
      [...frame('in many frames')].map((byte) => Buffer.from([byte])),
    )
    stream.end()
    expect(await answer).toMatchObject({ ...ok, text: '14' })
    expect(String(requests[0])).toBe('in many frames')
  })

  it('may be empty', async () => {
    const { client } = await start(measuring().call)
    expect(await client.call('')).toBe('0')
  })

  it('may have 4 MiB', async () => {
    const { call, requests } = measuring()
    const { raw } = await start(call)
    const message = Buffer.alloc(bytesMax, 'abc')
    expect(await raw.call(frame(message))).toMatchObject({ ...ok, text: String(bytesMax) })
    expect(requests[0]?.equals(message)).toBe(true)
  })

  it('that announces a larger size is refused before it is sent', async () => {
    const { call, requests } = measuring()
    const { raw } = await start(call)
    const { stream, answer } = raw.open()
    stream.write(frame('', 0, bytesMax + 1))
    expect(await answer).toMatchObject({
      status: String(status.RESOURCE_EXHAUSTED),
      details: `Received message larger than max (${bytesMax + 1} vs ${bytesMax})`,
    })
    expect(requests).toEqual([])
  })

  it('in gzip reaches the method decompressed', async () => {
    const { call, requests } = measuring()
    const { raw } = await start(call)
    const answer = await raw.call(frame(gzipSync('the same'), 1), { 'grpc-encoding': 'gzip' })
    expect(answer).toMatchObject({ ...ok, text: '8' })
    expect(requests.map(String)).toEqual(['the same'])
  })

  it('in gzip that is too large after decompression is refused', async () => {
    const { call, requests } = measuring()
    const { raw } = await start(call)
    const packed = gzipSync(Buffer.alloc(64 * 1024 * 1024))
    const answer = await raw.call(frame(packed, 1), { 'grpc-encoding': 'gzip' })
    expect(answer).toMatchObject({ status: String(status.RESOURCE_EXHAUSTED) })
    expect(requests).toEqual([])
  })
})

describe('a body that is not exactly one message', () => {
  it.each([
    ['no message', [], 'UNIMPLEMENTED', {}],
    ['half a length', [frame('').subarray(0, 3)], 'UNIMPLEMENTED', {}],
    ['half a message', [frame('ab', 0, 4)], 'UNIMPLEMENTED', {}],
    ['two messages', [frame('a'), frame('b')], 'UNIMPLEMENTED', {}],
    ['an encoding that is not known', [frame('a', 1)], 'UNIMPLEMENTED', { 'grpc-encoding': 'rot13' }],
  ] as const)('is refused: %s', async (_name, parts, code, headers) => {
    const { call, requests } = measuring()
    const { raw, server } = await start(call)
    const { stream, answer } = raw.open(headers)
    await sendApart(stream, parts)
    stream.end()
    expect(await answer).toMatchObject({ status: String(status[code]), isHeadersOnly: true })
    expect(requests).toEqual([])
    // The next call of the connection is served.
    expect(await raw.call(frame('next'))).toMatchObject({ ...ok, text: '4' })
    expect(await handledOf(server)).toMatchObject({ OK: 1 })
  })

  it('a call that is not gRPC is answered with 415', async () => {
    const { call, requests } = measuring()
    const { raw } = await start(call)
    const answer = await raw.call(frame('a'), { 'content-type': 'application/json' })
    expect(answer).toMatchObject({ headers: { ':status': 415 }, status: undefined })
    expect(requests).toEqual([])
  })

  it.each(['/test.Test/Other', '/other.Test/Call', '/test.Test/Call?a=b'])(
    'answers a call of %s with UNIMPLEMENTED',
    async (path) => {
      const { raw } = await start(measuring().call)
      expect(await raw.call(frame('a'), { ':path': path })).toMatchObject({ status: '12' })
    },
  )
})

describe('metadata', () => {
  it('reaches the method as text, repeated and binary', async () => {
    const seen: Metadata[] = []
    const { raw } = await start(
      unary(async (request, { metadata }) => {
        seen.push(metadata)
        return request
      }, logger),
    )
    await raw.call(frame('a'), {
      'x-tenant': 'north',
      'x-tag': ['colour=red', 'size=2'],
      'x-trace-bin': [Buffer.from([0, 1, 255]).toString('base64'), Buffer.from('two').toString('base64')],
      authorization: 'Bearer abc',
    })
    const of = (key: string) => seen[0]?.get(key)
    expect(of('x-tenant')).toEqual(['north'])
    expect(of('x-tag')).toEqual(['colour=red, size=2'])
    expect(of('x-trace-bin')).toEqual([Buffer.from([0, 1, 255]), Buffer.from('two')])
    expect(of('authorization')).toEqual(['Bearer abc'])
  })

  it.each(['plain', 'größer – 日本語 🙂', '100 % of %41 and %', 'two\nlines\r\n', 'a#b?c&d=e', ''])(
    'of a failure, and its message %j, reach the caller unchanged',
    async (details) => {
      const metadata = new Metadata()
      metadata.set('grpc-status-details-bin', Buffer.from([0, 8, 255, 10]))
      metadata.add('x-hint', 'one')
      const { client } = await start((_call, answer) =>
        answer({ code: status.FAILED_PRECONDITION, details, metadata }),
      )
      const failure = (await client.call().catch((error: unknown) => error)) as ServiceError
      expect(failure).toMatchObject({ code: status.FAILED_PRECONDITION, details })
      expect(failure.metadata.get('grpc-status-details-bin')).toEqual([Buffer.from([0, 8, 255, 10])])
      expect(failure.metadata.get('x-hint')).toEqual(['one'])
    },
  )
})

it('a method sees the host and the port of its caller', async () => {
  const { raw } = await start(unary(async (_request, call) => Buffer.from(call.getPeer()), logger))
  expect((await raw.call(frame(''))).text).toBe(`127.0.0.1:${raw.port}`)
})

it('a method that throws fails only its own call, and reveals nothing', async () => {
  const { client, server } = await start(({ request }, answer) => {
    const { message } = request as unknown as AdmittedMessage<Buffer>
    if (String(message) === 'bad') throw new Error('secret of the inside')
    answer(null, message)
  })
  await expect(client.call('bad')).rejects.toMatchObject({ code: status.UNKNOWN, details: 'Unknown error' })
  expect(await client.call('good')).toBe('good')
  expect(await handledOf(server)).toEqual({ OK: 1, UNKNOWN: 1 })
})
