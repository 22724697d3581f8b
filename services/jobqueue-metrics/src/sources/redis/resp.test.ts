import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createReplyDecoder, ErrorReply, encodeCommand } from './resp.js'

type Reply = null | number | string | ErrorReply | Reply[]

const line = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll(/[\r\n]/g, ' '))
const { reply } = fc.letrec<{ reply: Reply }>((tie) => ({
  reply: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constant(null),
    fc.maxSafeInteger(),
    fc.string({ unit: 'binary' }),
    line.map((message) => new ErrorReply(message)),
    fc.array(tie('reply'), { maxLength: 6 }),
  ),
}))

/** How a server of RESP 2 writes a reply. */
function written(value: Reply): string {
  if (value === null) return '$-1\r\n'
  if (typeof value === 'number') return `:${value}\r\n`
  if (typeof value === 'string') return `$${Buffer.byteLength(value)}\r\n${value}\r\n`
  if (value instanceof ErrorReply) return `-${value.message}\r\n`
  return `*${value.length}\r\n${value.map(written).join('')}`
}

function decoded(pieces: Buffer[]): unknown[] {
  const replies: unknown[] = []
  const decode = createReplyDecoder((value) => replies.push(value))
  for (const piece of pieces) decode(piece)
  return replies
}

function cut(bytes: Buffer, places: number[]): Buffer[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b)
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
}

describe('replies', () => {
  it('are understood as they were written, wherever they are cut into pieces', () => {
    fc.assert(
      fc.property(fc.array(reply), fc.array(fc.nat(), { maxLength: 12 }), (replies, places) => {
        const bytes = Buffer.from(replies.map(written).join(''))
        expect(decoded(cut(bytes, places))).toEqual(replies)
      }),
    )
  })

  it.each([
    ['+OK\r\n', ['OK']],
    ['*-1\r\n', [null]],
    ['$0\r\n\r\n*0\r\n', ['', []]],
    [':-12\r\n', [-12]],
  ])('%j is understood', (text, expected) => {
    expect(decoded([Buffer.from(text)])).toEqual(expected)
  })

  it('that are none are refused, whatever came before', () => {
    expect(() => decoded([Buffer.from(':1\r\nHTTP/1.1 400 Bad Request\r\n')])).toThrow('no reply')
  })
})

it('a command tells the length of each part in bytes', () => {
  expect(encodeCommand(['lrange', 'q:ü€', -5, -1])).toBe(
    '*4\r\n$6\r\nlrange\r\n$7\r\nq:ü€\r\n$2\r\n-5\r\n$2\r\n-1\r\n',
  )
})
