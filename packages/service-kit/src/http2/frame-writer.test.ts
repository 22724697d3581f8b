import { once } from 'node:events'
import type { Socket } from 'node:net'
import { Writable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FrameWriter } from './frame-writer.js'

interface Frame {
  type: number
  flags: number
  id: number
  payload: Buffer
}

/** RFC 9113, section 4.1. */
function parse(bytes: Buffer): Frame[] {
  const frames: Frame[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = at + 9 + bytes.readUIntBE(at, 3)
    expect(end).toBeLessThanOrEqual(bytes.length)
    const [type = 0, flags = 0] = bytes.subarray(at + 3)
    frames.push({ type, flags, id: bytes.readUInt32BE(at + 5), payload: bytes.subarray(at + 9, end) })
    at = end
  }
  return frames
}

/** Strings are compared at once, buffers octet by octet. */
const textOf = (bytes: Buffer) => bytes.toString('latin1')
const payloadsOf = (bytes: Buffer) => parse(bytes).map(({ payload }) => textOf(payload))

/** A writer to a socket that takes each write a turn later, as it is then. */
function connect() {
  const writes: Buffer[] = []
  const sink = new Writable({
    write: (chunk: Buffer, _encoding, onWritten) => {
      setImmediate(() => {
        writes.push(Buffer.from(chunk))
        onWritten()
      })
    },
  })
  const writer = new FrameWriter(sink as Socket)
  const close = async () => {
    writer.flush()
    await once(sink.end(), 'finish')
    return writes
  }
  return { writer, close }
}

describe('what is written in one turn', () => {
  it('goes out as one write, in its order', async () => {
    const { writer, close } = connect()
    writer.write(0x6, 0x1, 0, Buffer.from('12345678'))
    writer.writeHeaders(3, Buffer.from('block'), false)
    writer.writeNumber(0x8, 2 ** 31 - 1, 0xfedcba98)
    await nextTurn()
    writer.write(0x0, 0x1, 3, Buffer.from('next turn'))
    const [first = Buffer.alloc(0), ...more] = await close()
    expect(parse(first)).toEqual([
      { type: 0x6, flags: 0x1, id: 0, payload: Buffer.from('12345678') },
      { type: 0x1, flags: 0x4, id: 3, payload: Buffer.from('block') },
      { type: 0x8, flags: 0, id: 2 ** 31 - 1, payload: Buffer.from('fedcba98', 'hex') },
    ])
    expect(more.map(parse)).toEqual([[{ type: 0x0, flags: 0x1, id: 3, payload: Buffer.from('next turn') }]])
  })

  it('goes out without anything that is written later', async () => {
    const { writer, close } = connect()
    writer.write(0x0, 0, 1, Buffer.from('a'))
    await nextTurn()
    const writes = await close()
    expect(writes).toHaveLength(1)
  })

  it('goes out at once when that is asked for, and once', async () => {
    const { writer, close } = connect()
    writer.flush()
    writer.write(0x0, 0, 1, Buffer.from('a'))
    writer.flush()
    writer.write(0x0, 0, 1, Buffer.from('b'))
    await nextTurn()
    const writes = await close()
    expect(writes.map(payloadsOf)).toEqual([['a'], ['b']])
  })

  it('is whole and in order when it is more than one write holds', async () => {
    const { writer, close } = connect()
    const payloads = Array.from({ length: 20 }, (_, place) => Buffer.alloc(16_384, place))
    for (const payload of payloads) writer.write(0x0, 0, 1, payload)
    const writes = await close()
    expect(payloadsOf(Buffer.concat(writes))).toEqual(payloads.map(textOf))
    expect(writes.length).toBeLessThan(10)
  })
})

it('the bytes of a frame are those of the time it was written', async () => {
  const { writer, close } = connect()
  const payload = Buffer.from('before')
  writer.write(0x0, 0, 1, payload)
  payload.fill('x')
  expect(parse(Buffer.concat(await close()))).toMatchObject([{ payload: Buffer.from('before') }])
})

describe('a header block', () => {
  it.each([
    [0, [0]],
    [1, [1]],
    [16_384, [16_384]],
    [16_385, [16_384, 1]],
    [32_768, [16_384, 16_384]],
    [70_000, [16_384, 16_384, 16_384, 16_384, 4464]],
  ])('of %d bytes has as many frames as it needs, and only the last ends it', async (bytes, lengths) => {
    for (const isEnd of [true, false]) {
      const { writer, close } = connect()
      const block = Buffer.from(Array.from({ length: bytes }, (_, at) => at % 251))
      writer.writeHeaders(5, block, isEnd)
      const frames = parse(Buffer.concat(await close()))
      expect(frames.map(({ payload }) => payload.length)).toEqual(lengths)
      expect(block.equals(Buffer.concat(frames.map(({ payload }) => payload)))).toBe(true)
      expect(frames.map(({ type }) => type)).toEqual(lengths.map((_, at) => (at === 0 ? 0x1 : 0x9)))
      const flags = lengths.map(
        (_, at) => (at === 0 && isEnd ? 0x1 : 0) | (at === lengths.length - 1 ? 0x4 : 0),
      )
      expect(frames.map((frame) => frame.flags)).toEqual(flags)
      expect(frames.every(({ id }) => id === 5)).toBe(true)
    }
  })
})

it('says once that the table has no room, at the start of the next header block', async () => {
  const { writer, close } = connect()
  writer.writeHeaders(1, Buffer.from('a'), false)
  writer.emptyTable()
  writer.write(0x0, 0, 1, Buffer.from('data'))
  writer.writeHeaders(3, Buffer.alloc(16_384, 'b'), false)
  writer.writeHeaders(1, Buffer.from('c'), true)
  const expected = ['a', 'data', `\x20${'b'.repeat(16_383)}`, 'b', 'c']
  expect(payloadsOf(Buffer.concat(await close()))).toEqual(expected)
})

describe('what waits to be sent', () => {
  it('is not written over, however many connections write in whatever turns', async () => {
    const step = fc.record({
      to: fc.nat(2),
      bytes: fc.oneof(fc.nat(50), fc.nat(16_384)),
      endsTurn: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { size: '+1' }), async (steps) => {
        const connections = [connect(), connect(), connect()]
        const sent = connections.map((): string[] => [])
        for (const [place, { to, bytes, endsTurn }] of steps.entries()) {
          const payload = Buffer.alloc(bytes, place + 1)
          sent[to]?.push(textOf(payload))
          connections[to]?.writer.write(0x0, 0, to, payload)
          if (endsTurn) await nextTurn()
        }
        const received = await Promise.all(connections.map(async ({ close }) => Buffer.concat(await close())))
        expect(received.map(payloadsOf)).toEqual(sent)
      }),
      { numRuns: 30 },
    )
  })

  it('is not written over after it could not be sent', async () => {
    const held: Buffer[] = []
    const broken = new Writable({
      write: (chunk: Buffer, _encoding, onWritten) => {
        held.push(chunk)
        onWritten(new Error('lost'))
      },
    }).on('error', () => {})
    const lost = new FrameWriter(broken as Socket)
    lost.write(0x0, 0, 1, Buffer.from('what the system may still hold'))
    await nextTurn()
    const others = Array.from({ length: 100 }, connect)
    for (const { writer } of others) writer.write(0x0, 0, 1, Buffer.alloc(1000, 0xff))
    await Promise.all(others.map(({ close }) => close()))
    expect(parse(Buffer.concat(held))).toMatchObject([
      { payload: Buffer.from('what the system may still hold') },
    ])
  })
})
