import { randomUUID } from 'node:crypto'
import { setImmediate as others } from 'node:timers/promises'

/** A long text of a JSON body. Its bytes, UTF-8, are a part of the body itself: nothing is copied. */
export class LongText {
  constructor(readonly bytes: Buffer) {}
}

/** Shorter texts are read like the rest of the body. */
const longBytesMin = 1024
/** Others get their turn after so much work: some milliseconds. */
const sliceBytes = 1024 * 1024
const marksAtOnce = 20_000

const quote = 0x22
const backslash = 0x5c

/**
 * Reads a large JSON body in slices, so that other requests go on. Long texts under one key stay where they are.
 *
 * @param body is written into: escapes of long texts are undone in place
 * @param longKey name of the fields that may come back as {@link LongText}
 * @throws SyntaxError
 */
export async function parseLargeJson(body: Buffer, longKey: string): Promise<unknown> {
  const nonce = randomUUID()
  const texts: Buffer[] = []
  const pieces: string[] = []
  let copied = 0
  let [marks, unescapedBytes] = [0, 0]
  for (let open = body.indexOf(quote); open >= 0; ) {
    const end = await endOfText(body, open + 1)
    if (end - open > longBytesMin) {
      pieces.push(body.toString('utf8', copied, open), `"${nonce}${texts.length}"`)
      texts.push(await unescaped(body.subarray(open + 1, end)))
      copied = end + 1
      unescapedBytes += end - open
    }
    marks += 1
    if (marks % marksAtOnce === 0 || unescapedBytes > sliceBytes) {
      unescapedBytes = 0
      await others()
    }
    open = body.indexOf(quote, end + 1)
  }
  pieces.push(body.toString('utf8', copied))
  const parsed: unknown = JSON.parse(pieces.join(''), (key, value: unknown) => {
    if (typeof value !== 'string' || !value.startsWith(nonce)) return value
    const bytes = texts[Number(value.slice(nonce.length))] ?? Buffer.alloc(0)
    return key === longKey ? new LongText(bytes) : bytes.toString('utf8')
  })
  return parsed
}

/** Where the quotation mark is that ends a text. @throws SyntaxError without one */
async function endOfText(body: Buffer, start: number): Promise<number> {
  let marks = 0
  for (let end = body.indexOf(quote, start); end >= 0; end = body.indexOf(quote, end + 1)) {
    let slashes = 0
    while (body[end - 1 - slashes] === backslash && end - slashes > start) slashes += 1
    if (slashes % 2 === 0) return end
    marks += 1
    if (marks % marksAtOnce === 0) await others()
  }
  throw new SyntaxError('a text without an end')
}

const plainEscapes: Record<string, number> = {
  '"': 0x22,
  '\\': 0x5c,
  '/': 0x2f,
  b: 8,
  f: 12,
  n: 10,
  r: 13,
  t: 9,
}

/** Undoes the escapes of a text in place: what they stand for is never longer. */
async function unescaped(text: Buffer): Promise<Buffer> {
  const done = { read: 0, written: 0 }
  while (done.read < text.length) {
    if (done.read > 0) await others()
    unescapeSlice(text, done, Math.min(text.length, done.read + sliceBytes))
  }
  return text.subarray(0, done.written)
}

function unescapeSlice(text: Buffer, done: { read: number; written: number }, end: number): void {
  let { read, written } = done
  while (read < end) {
    const byte = text[read] ?? 0
    if (byte < 0x20) throw new SyntaxError('a control character in a text')
    if (byte === backslash) {
      const { meant, length } = readEscape(text, read)
      if (typeof meant === 'string') written += text.write(meant, written)
      else text[written++] = meant
      read += length
    } else {
      text[written++] = byte
      read += 1
    }
  }
  Object.assign(done, { read, written })
}

/** A byte, or text of several; a pair of surrogates is read as one. */
function readEscape(text: Buffer, at: number): { meant: number | string; length: number } {
  const plain = plainEscapes[String.fromCharCode(text[at + 1] ?? 0)]
  if (plain !== undefined) return { meant: plain, length: 2 }
  const found = /^(?:\\u[0-9a-f]{4}){1,2}/i.exec(text.toString('latin1', at, at + 12))?.[0]
  if (!found) throw new SyntaxError('an unknown escape')
  const units = [...found.matchAll(/u(....)/g)].map(([, digits]) => Number.parseInt(String(digits), 16))
  const [first = 0, second = 0] = units
  const isPair = first >= 0xd800 && first < 0xdc00 && second >= 0xdc00 && second < 0xe000
  const meant = isPair ? String.fromCharCode(first, second) : String.fromCharCode(first)
  return { meant, length: isPair ? 12 : 6 }
}
