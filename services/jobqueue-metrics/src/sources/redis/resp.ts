import { isAscii } from 'node:buffer'

/** An error that the server answers with, as a value: a pipeline goes on behind it. */
export class ErrorReply {
  constructor(readonly message: string) {}
}

const bulk = (text: string) => `$${Buffer.byteLength(text)}\r\n${text}\r\n`

/** A command as RESP writes it: an array of texts, each with its length in bytes before it. */
export function encodeCommand(parts: readonly (string | number)[]): string {
  let text = `*${parts.length}\r\n`
  for (const part of parts) text += bulk(String(part))
  return text
}

const minus = 45
const zero = 48

/** What is there is not yet a whole reply. */
const incomplete = Symbol('incomplete')

/**
 * Understands replies of RESP 2, however they are cut into pieces: texts, numbers, null, arrays of them, errors as
 * `ErrorReply`.
 *
 * Pieces are read as Latin-1, a character a byte, because lengths count bytes and parts of such a text cost nothing
 * to take; only where there are other characters than ASCII, texts are decoded again.
 *
 * @returns takes the next piece
 * @throws Error (the returned function) for what is no reply
 */
export function createReplyDecoder(onReply: (reply: unknown) => void): (piece: Buffer) => void {
  let text = ''
  let isAsciiOnly = true
  let at = 0

  function lengthUntil(end: number): number {
    const isNegative = text.charCodeAt(at) === minus
    let value = 0
    for (let index = isNegative ? at + 1 : at; index < end; index += 1)
      value = value * 10 + (text.charCodeAt(index) - zero)
    return isNegative ? -value : value
  }

  /** What comes until a line break. */
  function textUntil(end: number): string {
    const part = text.slice(at, end)
    at = end + 2
    return isAsciiOnly ? part : Buffer.from(part, 'latin1').toString()
  }

  function bulkOf(length: number): unknown {
    if (length < 0) return null
    const end = at + length
    return text.length < end + 2 ? incomplete : textUntil(end)
  }

  function arrayOf(length: number): unknown {
    if (length < 0) return null
    const items: unknown[] = new Array(length)
    for (let index = 0; index < length; index += 1) {
      items[index] = next()
      if (items[index] === incomplete) return incomplete
    }
    return items
  }

  function next(): unknown {
    const end = text.indexOf('\r\n', at)
    if (end < 0) return incomplete
    const kind = text[at]
    at += 1
    if (kind === '+') return textUntil(end)
    if (kind === '-') return new ErrorReply(textUntil(end))
    const value = lengthUntil(end)
    at = end + 2
    if (kind === ':') return value
    if (kind === '$') return bulkOf(value)
    if (kind === '*') return arrayOf(value)
    throw new Error('what the server sends is no reply')
  }

  return (piece) => {
    const rest = text.slice(at)
    isAsciiOnly = isAscii(piece) && (rest === '' || isAsciiOnly)
    text = rest + piece.toString('latin1')
    at = 0
    while (at < text.length) {
      const start = at
      const reply = next()
      if (reply === incomplete) {
        at = start
        return
      }
      onReply(reply)
    }
  }
}
