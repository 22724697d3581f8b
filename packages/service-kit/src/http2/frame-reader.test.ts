import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ConnectionError, errorCodes } from './error-codes.js'
import { FrameReader } from './frame-reader.js'

type Frame = [type: number, flags: number, id: number, payload: Buffer]

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

/** RFC 9113, section 4.1. */
function frameBytes([type, flags, id, payload]: Frame): Buffer {
  const header = Buffer.alloc(9)
  header.writeUIntBE(payload.length, 0, 3)
  header.set([type, flags], 3)
  header.writeUInt32BE(id, 5)
  return Buffer.concat([header, payload])
}

function readerOf() {
  const frames: Frame[] = []
  const reader = new FrameReader((...frame) => frames.push(frame))
  return { reader, frames }
}

const byte = fc.integer({ min: 0, max: 255 })
const payloads = fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes))
const frame = fc.tuple(byte, byte, fc.integer({ min: 0, max: 2 ** 31 - 1 }), payloads)

/** Chunks of these bytes, some of which may be empty. */
function divide(bytes: Buffer, places: number[]): Buffer[] {
  const cuts = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b)
  return cuts.slice(1).map((end, at) => bytes.subarray(cuts[at], end))
}

it('gives the frames that were sent, however their bytes are divided', () => {
  fc.assert(
    fc.property(fc.array(frame), fc.array(fc.nat(), { size: '+1' }), (sent, places) => {
      const { reader, frames } = readerOf()
      for (const chunk of divide(Buffer.concat([preface, ...sent.map(frameBytes)]), places))
        reader.read(chunk)
      expect(frames).toEqual(sent)
    }),
  )
})

it('gives a frame as soon as its last byte has come, and not before', () => {
  const sent: Frame[] = [
    [0x4, 0, 0, Buffer.alloc(0)],
    [0x0, 1, 3, Buffer.from('abc')],
    [0xff, 0, 5, Buffer.alloc(0)],
  ]
  const { reader, frames } = readerOf()
  reader.read(preface)
  for (const [place, each] of sent.entries()) {
    for (const octet of frameBytes(each)) {
      expect(frames).toEqual(sent.slice(0, place))
      reader.read(Buffer.of(octet))
    }
  }
  expect(frames).toEqual(sent)
})

it('does not take the reserved bit for a part of the stream', () => {
  const { reader, frames } = readerOf()
  reader.read(Buffer.concat([preface, frameBytes([0x0, 0, 2 ** 31 + 7, Buffer.alloc(0)])]))
  expect(frames).toEqual([[0x0, 0, 7, Buffer.alloc(0)]])
})

it('takes a frame of 16384 bytes', () => {
  const large: Frame = [0x0, 0, 1, Buffer.alloc(16_384, 'x')]
  const { reader, frames } = readerOf()
  for (const chunk of divide(Buffer.concat([preface, frameBytes(large)]), [5000, 10_000])) reader.read(chunk)
  expect(frames).toEqual([large])
})

it('refuses a larger frame before its payload comes, after the frames before it', () => {
  const before: Frame = [0x6, 0, 0, Buffer.from('12345678')]
  const header = frameBytes([0x0, 0, 1, Buffer.alloc(16_385)]).subarray(0, 9)
  const { reader, frames } = readerOf()
  expect(() => reader.read(Buffer.concat([preface, frameBytes(before), header]))).toThrow(
    expect.objectContaining({ name: 'ConnectionError', code: errorCodes.frameSizeError }),
  )
  expect(frames).toEqual([before])
})

const protocolError = expect.objectContaining({ name: 'ConnectionError', code: errorCodes.protocolError })

it('refuses a client at the first byte that is not of the preface, however its bytes are divided', () => {
  const place = fc.nat(preface.length - 1)
  fc.assert(
    fc.property(place, byte, fc.array(fc.nat()), (wrongPlace, wrongByte, places) => {
      fc.pre(preface[wrongPlace] !== wrongByte)
      const { reader } = readerOf()
      for (const chunk of divide(preface.subarray(0, wrongPlace), places)) reader.read(chunk)
      expect(() => reader.read(Buffer.of(wrongByte))).toThrow(protocolError)
    }),
  )
})

it.each(['GET / HTTP/1.1\r\nhost: a\r\n\r\n', 'PRI * HTTP/2.0\r\n\r\nXX', '\x16\x03\x01'])(
  'refuses a client that begins with %j',
  (greeting) => {
    expect(() => readerOf().reader.read(Buffer.from(greeting, 'latin1'))).toThrow(protocolError)
  },
)

it('gives nothing and refuses nothing while the preface is not whole', () => {
  const { reader, frames } = readerOf()
  reader.read(Buffer.alloc(0))
  reader.read(preface.subarray(0, -1))
  expect(frames).toEqual([])
})

it('fails with nothing but a ConnectionError, whatever is sent', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array()), fc.boolean(), (chunks, isGreeted) => {
      const { reader } = readerOf()
      try {
        if (isGreeted) reader.read(preface)
        for (const chunk of chunks) reader.read(Buffer.from(chunk))
      } catch (error) {
        expect(error).toBeInstanceOf(ConnectionError)
      }
    }),
  )
})
