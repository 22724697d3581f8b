import { getPackedSettings, getUnpackedSettings } from 'node:http2'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { errorCodes } from './error-codes.js'
import { limits, ourSettings, readSettings, windowBytesAdded } from './settings.js'

function settings(...pairs: [id: number, value: number][]): Buffer {
  const payload = Buffer.alloc(6 * pairs.length)
  for (const [place, [id, value]] of pairs.entries()) {
    payload.writeUInt16BE(id, 6 * place)
    payload.writeUInt32BE(value, 6 * place + 2)
  }
  return payload
}

const errorOf = (code: number) => expect.objectContaining({ name: 'ConnectionError', code })

it('tells clients what they may do, in settings that nghttp2 reads', () => {
  expect(getUnpackedSettings(ourSettings)).toEqual({
    maxConcurrentStreams: limits.concurrentStreamsMax,
    initialWindowSize: limits.windowBytes,
    maxHeaderListSize: limits.headerListBytesMax,
    maxHeaderSize: limits.headerListBytesMax,
  })
})

it('makes the window of a connection as large as that of a stream', () => {
  expect(65_535 + windowBytesAdded).toBe(limits.windowBytes)
})

it('reads the window among any settings that nghttp2 writes', () => {
  const any = fc.record(
    {
      headerTableSize: fc.nat(2 ** 32 - 1),
      enablePush: fc.boolean(),
      initialWindowSize: fc.nat(2 ** 31 - 1),
      maxFrameSize: fc.integer({ min: 16_384, max: 2 ** 24 - 1 }),
      maxConcurrentStreams: fc.nat(2 ** 32 - 1),
      maxHeaderListSize: fc.nat(2 ** 32 - 1),
      enableConnectProtocol: fc.boolean(),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(any, (written) => {
      expect(readSettings(getPackedSettings(written)).initialWindow).toBe(written.initialWindowSize)
    }),
  )
})

it('learns of another table of fields, whatever its size, and of none that nobody speaks of', () => {
  for (const bytes of [0, 4096, 2 ** 32 - 1])
    expect(readSettings(settings([4, 1], [1, bytes])).hasOtherTable).toBe(true)
  expect(readSettings(settings([4, 1])).hasOtherTable).toBe(false)
  expect(readSettings(settings()).hasOtherTable).toBe(false)
})

it('takes the last of several windows', () => {
  expect(readSettings(settings([4, 1], [4, 0])).initialWindow).toBe(0)
})

it('passes over settings it does not know', () => {
  expect(readSettings(settings([0xffff, 2 ** 32 - 1], [0, 7], [4, 5])).initialWindow).toBe(5)
})

it.each([
  ['a push that is neither on nor off', 2, 2, errorCodes.protocolError],
  ['a window of 2^31 bytes', 4, 2 ** 31, errorCodes.flowControlError],
  ['frames of fewer than 16384 bytes', 5, 16_383, errorCodes.protocolError],
  ['frames of 2^24 bytes', 5, 2 ** 24, errorCodes.protocolError],
])('refuses %s, wherever it stands', (_case, id, value, code) => {
  expect(() => readSettings(settings([id, value]))).toThrow(errorOf(code))
  expect(() => readSettings(settings([4, 1], [id, value], [4, 1]))).toThrow(errorOf(code))
})

it.each([1, 5, 7, 11])('refuses a payload of %d bytes, which is no number of settings', (bytes) => {
  expect(() => readSettings(Buffer.alloc(bytes))).toThrow(errorOf(errorCodes.frameSizeError))
})
