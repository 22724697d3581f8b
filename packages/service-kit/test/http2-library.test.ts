import { constants } from 'node:http2'
import { gzipSync } from 'node:zlib'
import { status } from '@grpc/grpc-js'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { unary } from '../src/grpc/index.js'
import { createLogger } from '../src/observability/index.js'
import { connect } from './grpc-harness.js'
import { callOf, type Fields, fieldsOf } from './http2-frames.js'
import { closers, startingIn, streamed } from './http2-service.js'
import { frame as messageOf } from './raw-calls.js'

const patience = { timeout: 15_000 }
const logger = createLogger('test', 'silent')
const closing = closers()
afterEach(closing.run)

const start = startingIn(closing)

const unknown = '/test.Test/Unknown'
const withoutPseudo = fieldsOf().slice(3)

describe('a call that the library gets', () => {
  it.each<[what: string, fields: Fields]>([
    ['settings of an upgrade', fieldsOf(unknown, ['http2-settings', 'AAAA'])],
    ['two fields for trailers', fieldsOf(unknown, ['te', 'trailers'])],
    ['CONNECT', [[':method', 'CONNECT'], [':scheme', 'http'], [':path', '/'], ...withoutPseudo]],
    ['GET', [[':method', 'GET'], [':scheme', 'http'], [':path', '/test.Test/Call'], ...withoutPseudo]],
    ['an unknown verb', [[':method', 'A B'], [':scheme', 'http'], [':path', '/'], ...withoutPseudo]],
    ['an empty scheme', [[':method', 'POST'], [':scheme', ''], [':path', unknown], ...withoutPseudo]],
    ['a path with a space', fieldsOf('/test.Test/Un known')],
    ['a path beyond ASCII', fieldsOf('/test.Test/\xfc')],
    ['a path of 15,000 characters', fieldsOf(`/${'a'.repeat(15_000)}`)],
    ['an empty authority', [[':authority', ''], ...fieldsOf(unknown)]],
    ['an authority that is none', [[':authority', 'a@b:/ c'], ...fieldsOf(unknown)]],
    ['a value beyond ASCII', fieldsOf(unknown, ['x-a', 'caf\xe9'])],
    ['a name of odd characters', fieldsOf(unknown, ["!#$%&'*+.^_`|~-", 'a'])],
    ['a name that objects have', fieldsOf(unknown, ['__proto__', 'a'], ['constructor', 'b'])],
    [
      '1,000 fields',
      fieldsOf(unknown, ...Array.from({ length: 1000 }, (_, index) => [`x-${index}`, 'a'] as const)),
    ],
    ['a length that is not that of its body', fieldsOf('/test.Test/Call', ['content-length', '3'])],
    ['a deadline that is none', fieldsOf(unknown, ['grpc-timeout', 'soon'])],
    ['an encoding that is none', fieldsOf('/test.Test/Call', ['grpc-encoding', 'none'])],
  ])('is answered or reset, and the next call is served (%s)', async (_what, fields) => {
    const service = await start()
    const peer = await service.peer()
    peer.send(callOf(1, 'a', fields))
    const { status: code, headers, resetCode } = await peer.answer(1)
    expect(code ?? headers[':status'] ?? resetCode).toBeDefined()
    peer.send(callOf(3, 'b'), callOf(5, 'c', fieldsOf(unknown)))
    expect(await peer.answer(3)).toMatchObject({ status: '0', body: messageOf('b') })
    expect(await peer.answer(5)).toMatchObject({ status: String(status.UNIMPLEMENTED) })
  })

  it('has the host and the port of its caller, whoever it says that it is', async () => {
    const call = unary<Buffer, Buffer>(
      async (_request, current) =>
        Buffer.from(`${current.getPeer()} ${current.metadata.get('x-switchyard-caller')}`),
      logger,
    )
    const service = await start({ call })
    const [first, second] = [await service.raw(), await service.raw()]
    const zipped = { 'grpc-encoding': 'gzip', 'x-switchyard-caller': '1' }
    const body = messageOf(gzipSync('a'), 1)
    expect(await first.call(body, zipped)).toMatchObject({ status: '0', text: `127.0.0.1:${first.port} ` })
    expect(await second.call(body, zipped)).toMatchObject({ status: '0', text: `127.0.0.1:${second.port} ` })
  })

  it('takes and gives messages of streams in their order', async () => {
    const service = await start()
    const { client, close } = connect(service.port)
    closing.add(close)
    const same = (bytes: Buffer) => bytes
    const chat = client.makeBidiStreamRequest('/test.Test/Chat', same, same)
    const texts = Array.from({ length: 500 }, (_, index) => `${index} ${'x'.repeat(index * 7)}`)
    for (const text of texts) chat.write(Buffer.from(text))
    chat.end()
    const received: string[] = []
    for await (const message of chat) received.push(String(message))
    expect(received).toEqual(texts)
  })

  it('is cancelled when its caller leaves it, and when its caller leaves', async () => {
    const ended: boolean[] = []
    const watch = streamed(async function* (signal) {
      yield Buffer.from('open')
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      ended.push(true)
    })
    const service = await start({ watch })
    const raw = await service.raw()
    const path = { ':path': '/test.Test/Watch' }
    const [left, cut] = [raw.open(path), raw.open(path)]
    for (const { stream } of [left, cut]) {
      stream.end(messageOf(''))
      await new Promise((resolve) => stream.once('data', resolve))
    }
    left.stream.close(constants.NGHTTP2_CANCEL)
    await vi.waitFor(() => expect(ended).toHaveLength(1), patience)
    raw.cut()
    await vi.waitFor(() => expect(ended).toHaveLength(2), patience)
  })
})

it.each([
  ['read here', '/test.Test/Call'],
  ['left to the library', unknown],
])(
  'nothing of metadata that cannot be used is written anywhere, of a call that is %s',
  async (_which, path) => {
    const written = vi.spyOn(console, 'error')
    closing.add(() => written.mockRestore())
    const service = await start()
    const peer = await service.peer()
    peer.send(callOf(1, 'a', fieldsOf(path, ['authorization', 'Bearer s\xebcret'], ['x(y', 'secret'])))
    peer.send(callOf(3, 'a', fieldsOf(path, ['authorization', 'Bearer s\xebcret'])))
    await Promise.all([peer.answer(1), peer.answer(3)])
    expect(written.mock.calls).toEqual([])
  },
)
