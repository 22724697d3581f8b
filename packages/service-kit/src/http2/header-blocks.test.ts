import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { errorCodes } from './error-codes.js'
import { frameTypes } from './frames.js'
import { HeaderBlocks, withoutPadding } from './header-blocks.js'

const { headers, continuation, data } = frameTypes
const endStream = 0x1
const endHeaders = 0x4
const padded = 0x8
const priority = 0x20

const errorOf = (code: number) => expect.objectContaining({ name: 'ConnectionError', code })
const protocolError = errorOf(errorCodes.protocolError)
const none = Buffer.alloc(0)

/** HEADERS with what may stand around its part of a block: RFC 9113, section 6.2. */
function headersPayload(part: Buffer, paddingBytes: number | null, hasPriority: boolean): Buffer {
  const before = paddingBytes === null ? none : Buffer.of(paddingBytes)
  const weight = hasPriority ? Buffer.of(0x80, 0, 0, 3, 15) : none
  return Buffer.concat([before, weight, part, Buffer.alloc(paddingBytes ?? 0)])
}

describe('a header block', () => {
  it('is what its frames hold in their order, without padding and priority', () => {
    const parts = fc
      .array(fc.uint8Array(), { minLength: 1, maxLength: 8 })
      .map((all) => all.map((part) => Buffer.from(part)))
    const padding = fc.option(fc.nat(255))
    const block = fc.record({ parts, padding, hasPriority: fc.boolean(), isEnd: fc.boolean() })
    fc.assert(
      fc.property(fc.array(block), (blocks) => {
        const reader = new HeaderBlocks()
        for (const [place, { parts, padding, hasPriority, isEnd }] of blocks.entries()) {
          const begin =
            (isEnd ? endStream : 0) | (padding === null ? 0 : padded) | (hasPriority ? priority : 0)
          const whole = parts.map((part, at) => {
            const [type, flags] = at === 0 ? [headers, begin] : [continuation, 0]
            const end = at === parts.length - 1 ? endHeaders : 0
            reader.expect(type, 2 * place + 1)
            const payload = at === 0 ? headersPayload(part, padding, hasPriority) : part
            return reader.add(type, flags | end, 2 * place + 1, payload)
          })
          expect(whole.pop()).toEqual({ block: Buffer.concat(parts), isEnd })
          expect(whole.filter((each) => each !== null)).toEqual([])
        }
      }),
    )
  })

  it('does not end its stream by a flag of CONTINUATION', () => {
    const reader = new HeaderBlocks()
    reader.add(headers, 0, 1, none)
    expect(reader.add(continuation, endHeaders | endStream, 1, none)).toEqual({ block: none, isEnd: false })
  })

  it('may have twice the bytes of the largest list', () => {
    const reader = new HeaderBlocks()
    const part = Buffer.alloc(16_384)
    reader.add(headers, 0, 1, part)
    for (let count = 2; count < 8; count++) reader.add(continuation, 0, 1, part)
    expect(reader.add(continuation, endHeaders, 1, part)?.block).toHaveLength(2 * 65_536)
  })

  it('ends the connection when its end does not come, even if its frames are empty', () => {
    const reader = new HeaderBlocks()
    reader.add(headers, 0, 1, none)
    expect(() => {
      for (let count = 0; count < 20; count++) reader.add(continuation, 0, 1, none)
    }).toThrow(errorOf(errorCodes.enhanceYourCalm))
  })

  it.each([0, 2, 2 ** 31 - 2])('may not be on stream %d, which no client opens', (id) => {
    expect(() => new HeaderBlocks().add(headers, endHeaders, id, none)).toThrow(protocolError)
  })

  it('may not have half a priority', () => {
    const reader = new HeaderBlocks()
    expect(() => reader.add(headers, endHeaders | priority, 1, Buffer.alloc(4))).toThrow(
      errorOf(errorCodes.frameSizeError),
    )
  })

  it('may be empty beside its padding and its priority', () => {
    const payload = headersPayload(none, 9, true)
    const whole = new HeaderBlocks().add(headers, endHeaders | padded | priority, 1, payload)
    expect(whole?.block).toEqual(none)
  })

  it('may not have more padding than its frame', () => {
    const reader = new HeaderBlocks()
    expect(() => reader.add(headers, endHeaders | padded, 1, Buffer.of(2, 0))).toThrow(protocolError)
  })
})

describe('the order of frames', () => {
  const { resetStream, settings, pushPromise, ping, goAway, windowUpdate } = frameTypes
  const unknown = 0xee
  const others = [data, headers, frameTypes.priority, resetStream, settings, pushPromise, ping, goAway]

  it.each([...others, windowUpdate, unknown])('lets no frame of kind %d into a header block', (type) => {
    const reader = new HeaderBlocks()
    reader.add(headers, 0, 1, none)
    for (const id of [0, 1, 3]) expect(() => reader.expect(type, id)).toThrow(protocolError)
    expect(() => reader.expect(continuation, 3)).toThrow(protocolError)
    expect(() => reader.expect(continuation, 1)).not.toThrow()
  })

  it.each([...others, windowUpdate, unknown])('lets a frame of kind %d come before and after one', (type) => {
    const reader = new HeaderBlocks()
    expect(() => reader.expect(type, 1)).not.toThrow()
    reader.add(headers, 0, 1, none)
    reader.add(continuation, endHeaders, 1, none)
    expect(() => reader.expect(type, 1)).not.toThrow()
  })

  it('has no CONTINUATION but within a header block', () => {
    const reader = new HeaderBlocks()
    for (const id of [0, 1]) expect(() => reader.expect(continuation, id)).toThrow(protocolError)
    reader.add(headers, endHeaders, 1, none)
    expect(() => reader.expect(continuation, 1)).toThrow(protocolError)
  })
})

describe('padding', () => {
  it('is no part of the data, which is all of a frame without padding', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.nat(255), (bytes, paddingBytes) => {
        const content = Buffer.from(bytes)
        expect(withoutPadding(padded, headersPayload(content, paddingBytes, false))).toEqual(content)
        expect(withoutPadding(endStream, content)).toEqual(content)
      }),
    )
  })

  it.each([
    ['as long as the frame', Buffer.of(1)],
    ['longer than the frame', Buffer.of(255, 0, 0)],
    ['of no length', none],
  ])('may not be %s', (_case, payload) => {
    expect(() => withoutPadding(padded, payload)).toThrow(
      expect.objectContaining({ name: 'ConnectionError' }),
    )
  })
})
