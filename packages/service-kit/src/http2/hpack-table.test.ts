import fc from 'fast-check'
import { expect, it } from 'vitest'
import { errorCodes } from './error-codes.js'
import { HpackDecoder } from './hpack-decoder.js'

const firstIndex = 62

/** RFC 7541, section 5.1. */
function number(first: number, mask: number, value: number): Buffer {
  if (value < mask) return Buffer.of(first | value)
  const bytes = [first | mask]
  let rest = value - mask
  for (; rest > 127; rest >>= 7) bytes.push(128 | (rest & 127))
  return Buffer.of(...bytes, rest)
}

const indexed = (index: number) => number(0x80, 0x7f, index)
const resize = (bytes: number) => number(0x20, 0x1f, bytes)
const text = (value: string) => Buffer.concat([number(0, 0x7f, value.length), Buffer.from(value)])
const kept = (name: string, value: string) => Buffer.concat([Buffer.of(0x40), text(name), text(value)])

const valuesOf = (decoder: HpackDecoder, ...blocks: Buffer[]) =>
  decoder.decode(Buffer.concat(blocks))?.map(({ value }) => value) ?? null

/** What the indexes of the table stand for, and that there are no more of them. */
function expectTable(decoder: HpackDecoder, values: string[]) {
  expect(valuesOf(decoder, ...values.map((_, age) => indexed(firstIndex + age)))).toEqual(values)
  expect(() => decoder.decode(indexed(firstIndex + values.length))).toThrow(
    expect.objectContaining({ code: errorCodes.compressionError }),
  )
}

it('a table holds the newest fields within its bytes, whatever is kept and however it is resized', () => {
  const keep = fc.record({ valueBytes: fc.oneof(fc.nat(60), fc.nat(1500), fc.nat(6000)) })
  const change = fc.record({ tableBytes: fc.nat(4096) })
  const anySteps = fc.array(fc.oneof({ arbitrary: keep, weight: 4 }, change), { size: 'large' })
  fc.assert(
    fc.property(fc.limitShrink(anySteps, 100), (steps) => {
      const decoder = new HpackDecoder(1e6)
      let bytesMax = 4096
      let values: string[] = []
      const fit = () => {
        let bytes = 0
        const tooOld = values.findIndex((value) => {
          bytes += 1 + value.length + 32
          return bytes > bytesMax
        })
        if (tooOld !== -1) values = values.slice(0, tooOld)
      }
      for (const [place, step] of steps.entries()) {
        if ('tableBytes' in step) {
          bytesMax = step.tableBytes
          decoder.decode(resize(bytesMax))
        } else {
          const value = `${place}`.padEnd(step.valueBytes, '.')
          decoder.decode(kept('n', value))
          values.unshift(value)
        }
        fit()
      }
      expectTable(decoder, values)
    }),
    { numRuns: 100 },
  )
})

it('a table holds 128 of the smallest fields, and the oldest of more is gone', () => {
  const decoder = new HpackDecoder(1e6)
  for (let count = 0; count < 300; count++) decoder.decode(kept('', ''))
  expectTable(decoder, Array(128).fill(''))
})

it('a field that is too large for the table leaves it empty and is read all the same', () => {
  const decoder = new HpackDecoder(1e6)
  const large = 'x'.repeat(4096 - 32)
  expect(valuesOf(decoder, kept('a', '1'), kept('b', large))).toEqual(['1', large])
  expectTable(decoder, [])
})

it('a field may take its name from the one it evicts', () => {
  const decoder = new HpackDecoder(1e6)
  decoder.decode(kept('name', 'x'.repeat(4000)))
  const block = Buffer.concat([number(0x40, 0x3f, firstIndex), text('y'.repeat(4000))])
  expect(decoder.decode(block)).toMatchObject([{ name: 'name', value: 'y'.repeat(4000) }])
})

it('a table may be emptied and grow again at the start of one block, up to 4096 bytes', () => {
  const decoder = new HpackDecoder(1e6)
  decoder.decode(kept('a', '1'))
  expect(valuesOf(decoder, resize(0), resize(4096), kept('a', '2'))).toEqual(['2'])
  expectTable(decoder, ['2'])
})

it('fields that are not to be kept are not', () => {
  const decoder = new HpackDecoder(1e6)
  const plain = Buffer.concat([Buffer.of(0x00), text('a'), text('1')])
  const sensitive = Buffer.concat([Buffer.of(0x10), text('a'), text('2')])
  expect(valuesOf(decoder, plain, sensitive)).toEqual(['1', '2'])
  expectTable(decoder, [])
})

it('a list that is too large is passed over, and its fields are in the table', () => {
  const decoder = new HpackDecoder(100)
  expect(valuesOf(decoder, kept('name', '1'.repeat(60)), kept('name', '2'))).toBeNull()
  expect(valuesOf(decoder, indexed(firstIndex))).toEqual(['2'])
  expect(valuesOf(decoder, indexed(firstIndex + 1))).toEqual(['1'.repeat(60)])
})

it('each field of a list counts its octets and 32 more, however short its code is', () => {
  const decoder = new HpackDecoder(100)
  expect(valuesOf(decoder, kept('name', '1'.repeat(64)))).toHaveLength(1)
  expect(valuesOf(decoder, kept('name', '1'.repeat(65)))).toBeNull()
  const method = indexed(2)
  expect(valuesOf(decoder, method, method)).toHaveLength(2)
  expect(valuesOf(decoder, method, method, method)).toBeNull()
})

it('a list that is too large is still checked to its end', () => {
  const decoder = new HpackDecoder(10)
  expect(() => valuesOf(decoder, kept('name', '1'), indexed(0))).toThrow(
    expect.objectContaining({ code: errorCodes.compressionError }),
  )
})
