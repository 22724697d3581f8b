import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { connect } from './grpc-harness.js'
import {
  callOf,
  dataOf,
  fieldsOf,
  frameOf,
  greeting,
  headersOf,
  pingOf,
  preface,
  resetOf,
  settingsOf,
  windowOf,
} from './http2-frames.js'
import { startService } from './http2-service.js'

let service: Awaited<ReturnType<typeof startService>>
let beside: ReturnType<typeof connect>
const broken: unknown[] = []
const note = (error: unknown) => broken.push(error)
beforeAll(async () => {
  service = await startService()
  beside = connect(service.port)
  process.on('uncaughtException', note)
  process.on('unhandledRejection', note)
})
afterAll(async () => {
  process.off('uncaughtException', note)
  process.off('unhandledRejection', note)
  beside.close()
  service.closeAll()
  await service.close()
})

/** Sends all of it, ends the connection, and asks on another one. */
async function expectServedBeside(...parts: Buffer[]) {
  const peer = await service.peer(Buffer.alloc(0))
  peer.send(...parts)
  peer.socket.end()
  await peer.until(() => peer.isClosed)
  expect(await beside.call('a')).toBe('a')
  expect(broken).toEqual([])
}

const id = fc.constantFrom(0, 1, 2, 3, 5, 7, 9, 2 ** 31 - 1)
const length = fc.oneof(fc.nat(20), fc.constant(16_384), fc.constant(16_385))
const bytes = fc.uint8Array({ maxLength: 40 }).map((part) => Buffer.from(part))
const path = fc.constantFrom(
  '/test.Test/Call',
  '/test.Test/Watch',
  '/test.Test/Chat',
  '/test.Test/Unknown',
  '/',
)
const text = fc.constantFrom(
  'grpc-timeout',
  'grpc-encoding',
  'te',
  'cookie',
  'x-a',
  'content-length',
  ':path',
  '',
)
const frames = fc.oneof(
  fc.tuple(id, path).map(([stream, to]) => callOf(stream, 'a', fieldsOf(to))),
  fc
    .tuple(id, path, text, text, fc.nat(0xff))
    .map(([stream, to, name, value, flags]) => headersOf(stream, fieldsOf(to, [name, value]), flags)),
  fc.tuple(id, bytes, fc.boolean()).map(([stream, part, isEnd]) => dataOf(stream, part, isEnd)),
  fc.tuple(id, fc.nat(14)).map(([stream, code]) => resetOf(stream, code)),
  fc.tuple(id, fc.constantFrom(0, 1, 65_535, 2 ** 31 - 1)).map(([stream, more]) => windowOf(stream, more)),
  fc.tuple(fc.nat(10), fc.constantFrom(0, 1, 16_384, 2 ** 32 - 1)).map((setting) => settingsOf(setting)),
  fc.constant(pingOf()),
  fc
    .tuple(fc.nat(12), fc.nat(0xff), id, bytes)
    .map(([type, flags, stream, part]) => frameOf(type, flags, stream, part)),
  fc
    .tuple(fc.nat(12), id, length)
    .map(([type, stream, many]) => frameOf(type, 0, stream, Buffer.alloc(many))),
)

const bounded = { numRuns: 300, endOnFailure: true }

it('any frames in any order hinder nobody', async () => {
  const sequences = fc.array(frames, { minLength: 1, maxLength: 30 })
  await fc.assert(
    fc.asyncProperty(sequences, (sent) => expectServedBeside(greeting, ...sent)),
    bounded,
  )
})

it('calls whose bytes were changed on the way hinder nobody', async () => {
  const calls = Buffer.concat([
    greeting,
    ...['/test.Test/Call', '/test.Test/Chat', '/test.Test/Watch', '/test.Test/Call'].map((to, index) =>
      callOf(2 * index + 1, 'message', fieldsOf(to)),
    ),
    pingOf(),
  ])
  const changes = fc.array(
    fc.tuple(fc.integer({ min: preface.length, max: calls.length - 1 }), fc.nat(0xff)),
    {
      minLength: 1,
      maxLength: 4,
    },
  )
  await fc.assert(
    fc.asyncProperty(changes, (changed) => {
      const sent = Buffer.from(calls)
      for (const [at, byte] of changed) sent[at] = byte
      return expectServedBeside(sent)
    }),
    bounded,
  )
})

it('bytes that are no frames hinder nobody', async () => {
  const noise = fc.uint8Array({ maxLength: 200 }).map((part) => Buffer.from(part))
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(Buffer.alloc(0), preface, greeting), noise, (first, part) =>
      expectServedBeside(first, part),
    ),
    bounded,
  )
})
