import { gzipSync } from 'node:zlib'
import { Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { afterEach, describe, expect, it } from 'vitest'
import { serverStream, type UnaryCall, unary } from '../src/grpc/index.js'
import type { UnaryMethod } from '../src/grpc/unary-call.js'
import { createLogger } from '../src/observability/index.js'
import { connect, definition, handledOf, startServer } from './grpc-harness.js'
import { connectRaw, frame, sendApart } from './raw-calls.js'

const logger = createLogger('test', 'silent')
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

type Method = UnaryMethod<Buffer, Buffer>
const watch = serverStream<Buffer, Buffer>(async function* () {}, logger)

/** Serves the method, by itself or as part of another definition, to a raw caller and to a proper one. */
async function start(call: Method, other: Partial<(typeof definition)['call']> = {}) {
  const implementation = { call, watch }
  const services = [
    {
      name: 'test.Test',
      definition: { ...definition, call: { ...definition.call, ...other } } as typeof definition,
      implementation,
    },
  ]
  const server = await startServer(implementation, { services })
  const raw = await connectRaw(server.port)
  const client = connect(server.port)
  closing.push(server.close, client.close, raw.close)
  return { server, raw, client }
}

/** Answers with the length of the request, and keeps the requests. */
function measuring() {
  const requests: Buffer[] = []
  const call = unary<Buffer, Buffer>(async (request) => {
    requests.push(request)
    return Buffer.from(String(request.length))
  }, logger)
  return { requests, call }
}

const bytesMax = 4 * 1024 * 1024
const tooLarge = {
  status: String(status.RESOURCE_EXHAUSTED),
  details: `Received message larger than max (${bytesMax + 1} vs ${bytesMax})`,
}
const ok = { status: '0', details: 'OK' }

describe('a message', () => {
  it('comes whole when each of its bytes, and of its length, has a frame of its own', async () => {
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
    const { raw, client } = await start(measuring().call)
    expect(await raw.call(frame(''))).toMatchObject({ ...ok, text: '0' })
    expect(await client.call('')).toBe('0')
  })

  it('may have 4 MiB', async () => {
    const { call, requests } = measuring()
    const { raw } = await start(call)
    const message = Buffer.alloc(bytesMax, 'abc')
    expect(await raw.call(frame(message))).toMatchObject({ ...ok, text: String(bytesMax) })
    expect(requests[0]?.equals(message)).toBe(true)
  })

  it('that is announced as larger is refused before it is sent', async () => {
    const { call, requests } = measuring()
    const { raw, server } = await start(call)
    const { stream, answer } = raw.open()
    stream.write(frame('', 0, bytesMax + 1))
    expect(await answer).toMatchObject(tooLarge)
    expect(requests).toEqual([])
    expect(await handledOf(server)).toEqual({ RESOURCE_EXHAUSTED: 1 })
  })

  it('that is larger, and whose length came in pieces, is refused at the first byte too many', async () => {
    const { call, requests } = measuring()
    const { raw, server } = await start(call)
    const { stream, answer } = raw.open()
    const bytes = frame(Buffer.alloc(bytesMax + 1))
    await sendApart(stream, [bytes.subarray(0, 2), bytes.subarray(2, -1), bytes.subarray(-1)])
    expect(await answer).toMatchObject(tooLarge)
    expect(requests).toEqual([])
    expect(await handledOf(server)).toEqual({ RESOURCE_EXHAUSTED: 1 })
  })
})

describe('what is not one message', () => {
  const missing = 'Received no request message for method /test.Test/Call'
  const second = 'Received a second request message for method /test.Test/Call'
  const noEncoding = 'Received a compressed message without an encoding'
  it.each([
    ['no message', [], 'UNIMPLEMENTED', missing, {}],
    ['half a length', [frame('').subarray(0, 3)], 'UNIMPLEMENTED', missing, {}],
    ['half a message', [frame('ab', 0, 4)], 'UNIMPLEMENTED', missing, {}],
    ['two messages', [frame('a'), frame('b')], 'UNIMPLEMENTED', second, {}],
    ['one and a half', [frame('a'), frame('b', 0, 2)], 'UNIMPLEMENTED', second, {}],
    ['a flag for compression and no encoding', [frame('a', 1)], 'INTERNAL', noEncoding, {}],
    [
      'a flag for compression and the encoding of none',
      [frame('a', 1)],
      'INTERNAL',
      noEncoding,
      { 'grpc-encoding': 'identity' },
    ],
  ] as const)('is refused: %s', async (_name, parts, code, details, headers) => {
    const { call, requests } = measuring()
    const { raw, server } = await start(call)
    const { stream, answer } = raw.open(headers)
    await sendApart(stream, parts)
    stream.end()
    expect(await answer).toMatchObject({ status: String(status[code]), details, isHeadersOnly: true })
    expect(requests).toEqual([])
    expect(await handledOf(server)).toEqual({ [code]: 1 })
  })

  it('says no more of a request that cannot be read than that', async () => {
    const { call, requests } = measuring()
    const requestDeserialize = () => {
      throw new Error('secret of the inside')
    }
    const { raw, client, server } = await start(call, { requestDeserialize })
    const failure = { details: 'Error deserializing request' }
    expect(await raw.call(frame('a'))).toMatchObject({ ...failure, status: String(status.INTERNAL) })
    await expect(client.call('a')).rejects.toMatchObject({ ...failure, code: status.INTERNAL })
    expect(requests).toEqual([])
    expect(await handledOf(server)).toEqual({ INTERNAL: 2 })
  })
})

describe('what is left to the library', () => {
  it('gives the same answer to a message in gzip', async () => {
    const { call, requests } = measuring()
    const { raw, server } = await start(call)
    const gzip = { 'grpc-encoding': 'gzip' }
    const answers = await Promise.all([
      raw.call(frame('the same')),
      raw.call(frame(gzipSync('the same'), 1), gzip),
      raw.call(frame('the same'), gzip),
    ])
    for (const answer of answers) expect(answer).toMatchObject({ ...ok, text: '8' })
    expect(requests.map(String)).toEqual(['the same', 'the same', 'the same'])
    expect(await handledOf(server)).toEqual({ OK: 3 })
  })

  it('refuses a message in an encoding that is not known', async () => {
    const { call, requests } = measuring()
    const { raw } = await start(call)
    const answer = await raw.call(frame('a', 1), { 'grpc-encoding': 'rot13' })
    expect(answer).toMatchObject({ status: String(status.UNIMPLEMENTED) })
    expect(requests).toEqual([])
  })

  it('answers a call that is none of gRPC with 415', async () => {
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

describe('the answer on the wire', () => {
  it('is headers, one message and the status in trailers after success', async () => {
    const { raw } = await start(unary(async () => Buffer.from('done'), logger))
    const answer = await raw.call(frame('a'))
    expect(answer.headers).toMatchObject({ ':status': 200, 'content-type': 'application/grpc+proto' })
    expect(answer.headers).not.toHaveProperty('grpc-status')
    expect(answer.isHeadersOnly).toBe(false)
    expect(answer.body).toEqual(frame('done'))
    expect(answer.trailers).toMatchObject({ 'grpc-status': '0' })
  })

  it('is the status in its only headers after a failure', async () => {
    const { raw } = await start((_call, answer) =>
      answer({ code: status.ABORTED, details: 'größer 100%\n', metadata: new Metadata() }),
    )
    const answer = await raw.call(frame('a'))
    expect(answer.headers).toMatchObject({
      ':status': 200,
      'content-type': 'application/grpc+proto',
      'grpc-status': String(status.ABORTED),
      'grpc-message': 'gr%C3%B6%C3%9Fer%20100%25%0A',
    })
    expect(answer).toMatchObject({ isHeadersOnly: true, trailers: {}, body: Buffer.alloc(0) })
  })
})

describe('metadata', () => {
  it('reaches the method as the library gives it, be it text, repeated or binary', async () => {
    const seen: UnaryCall<Buffer>['metadata'][] = []
    const { raw } = await start(
      unary(async (request, { metadata }) => {
        seen.push(metadata)
        return request
      }, logger),
    )
    const headers = {
      'x-tenant': 'north',
      'x-tag': ['colour=red', 'size=2'],
      'x-trace-bin': [Buffer.from([0, 1, 255]).toString('base64'), Buffer.from('two').toString('base64')],
      authorization: 'Bearer abc',
    }
    await raw.call(frame('a'), headers)
    await raw.call(frame(gzipSync('a'), 1), { ...headers, 'grpc-encoding': 'gzip' })
    const [directly, byLibrary] = seen.map((metadata) =>
      Object.keys(headers).map((key) => [key, metadata.get(key)]),
    )
    expect(directly).toEqual(byLibrary)
    expect(directly).toEqual([
      ['x-tenant', ['north']],
      ['x-tag', ['colour=red, size=2']],
      ['x-trace-bin', [Buffer.from([0, 1, 255]), Buffer.from('two')]],
      ['authorization', ['Bearer abc']],
    ])
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

  it('of a failure whose text was cut within a character tells that it was', async () => {
    const { client } = await start((_call, answer) =>
      answer({ code: status.NOT_FOUND, details: '🙂 and 🙂'.slice(0, -1) }),
    )
    await expect(client.call()).rejects.toMatchObject({ code: status.NOT_FOUND, details: '🙂 and \u{fffd}' })
  })
})

it('a method sees the host and the port of its caller', async () => {
  const { raw } = await start(unary(async (_request, call) => Buffer.from(call.getPeer()), logger))
  expect((await raw.call(frame(''))).text).toBe(`127.0.0.1:${raw.port}`)
})

describe('a method with a defect', () => {
  it('whose answer cannot be written fails its call alone, and says no more', async () => {
    const responseSerialize = (response: Buffer) => {
      if (String(response) === 'bad') throw new Error('secret of the inside')
      return response
    }
    const { client, server } = await start(
      unary(async (request) => request, logger),
      { responseSerialize },
    )
    await expect(client.call('bad')).rejects.toMatchObject({
      code: status.INTERNAL,
      details: 'Error serializing response',
    })
    expect(await client.call('good')).toBe('good')
    expect(await handledOf(server)).toEqual({ INTERNAL: 1, OK: 1 })
  })

  it('that throws in place of an answer fails its call alone, and says no more', async () => {
    const { client, server } = await start(({ request }, answer) => {
      if (String(request) === 'bad') throw new Error('secret of the inside')
      answer(null, request)
    })
    await expect(client.call('bad')).rejects.toMatchObject({
      code: status.UNKNOWN,
      details: 'Unknown error',
    })
    expect(await client.call('good')).toBe('good')
    expect(await handledOf(server)).toEqual({ OK: 1, UNKNOWN: 1 })
  })
})
