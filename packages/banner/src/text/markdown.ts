/** A piece of a message. Text is text: nothing in it is markup any more. */
export type Piece =
  | string
  | { tag: 'strong' | 'em' | 'del' | 'a'; pieces: Piece[]; href?: string }
  | { tag: 'code'; pieces: [string] }
  | { tag: 'br'; pieces: [] }

/** One form of markup: how it is written, and what a match becomes. */
interface Markup {
  /** Matched where the text has been read up to. Every repetition is bounded, so a message of any kind is read quickly. */
  shape: RegExp
  /** It never begins inside a word. */
  beforeWord?: true
  read(found: RegExpExecArray, depth: number): Piece[]
}

const span =
  (tag: 'strong' | 'em' | 'del') =>
  ([, text = '']: RegExpExecArray, depth: number): Piece[] => [{ tag, pieces: parseMarkdown(text, depth) }]

/** By the first character: an escaped character, code, a link, strong or emphasised text, struck text, a new line. */
const markup = new Map<string, Markup[]>(
  Object.entries({
    '\\': [{ shape: /\\([!-/:-@[-`{-~])/y, read: ([, escaped = '']) => [escaped] }],
    '`': [{ shape: /`([^`\n]{1,500})`/y, read: ([, code = '']) => [{ tag: 'code', pieces: [code] }] }],
    '[': [
      {
        shape: /\[([^[\]\n]{1,500})\]\(<?([^\s()<>]{1,2000})>?\)/y,
        read: ([all, label = '', target = ''], depth) => link(parseMarkdown(label, depth), target, all),
      },
    ],
    '*': [
      { shape: /\*\*(?=\S)([^\n]{1,1000}?)(?<=\S)\*\*/y, read: span('strong') },
      { shape: /\*(?=[^\s*_])([^\n]{1,1000}?)(?<![\s*_])\*(?![\w*_])/y, beforeWord: true, read: span('em') },
    ],
    _: [{ shape: /_(?=[^\s*_])([^\n]{1,1000}?)(?<![\s*_])_(?![\w*_])/y, beforeWord: true, read: span('em') }],
    '~': [{ shape: /~~(?=\S)([^\n]{1,1000}?)(?<=\S)~~/y, read: span('del') }],
    h: [
      { shape: /https?:\/\/[^\s<>"'`]{1,2000}/y, beforeWord: true, read: ([address]) => bareLink(address) },
    ],
    '\n': [{ shape: /\n/y, read: () => [{ tag: 'br', pieces: [] }] }],
  } satisfies Record<string, Markup[]>),
)

/** Nothing a message needs is nested deeper. */
const depthMax = 4

/**
 * Reads a subset of Markdown: `**strong**`, `*emphasis*`, `~~struck~~`, `` `code` ``, `[links](https://…)`, bare
 * addresses, new lines, and a backslash before what is to stand as it is. Everything else, HTML too, is text.
 */
export function parseMarkdown(text: string, depth = 0): Piece[] {
  const whole = depth === 0 ? text.trim().replace(/\r\n?/g, '\n') : text
  if (depth >= depthMax) return whole === '' ? [] : [whole]
  const pieces: Piece[] = []
  let plainStart = 0
  let at = 0
  while (at < whole.length) {
    const found = readMarkup(whole, at, plainStart, depth + 1)
    if (!found) {
      at += 1
      continue
    }
    if (at > plainStart) pieces.push(whole.slice(plainStart, at))
    pieces.push(...found.pieces)
    at += found.length
    plainStart = at
  }
  if (plainStart < whole.length) pieces.push(whole.slice(plainStart))
  return pieces
}

/** The markup that begins at a place, if any. */
function readMarkup(text: string, at: number, plainStart: number, depth: number) {
  const first = text.charAt(at)
  const isInWord = at > plainStart && /\w/.test(text.charAt(at - 1))
  for (const { shape, beforeWord, read } of markup.get(first) ?? []) {
    if (beforeWord && isInWord) continue
    shape.lastIndex = at
    const found = shape.exec(text)
    if (found) return { pieces: read(found, depth), length: found[0].length }
  }
  return null
}

/** A link somewhere else than to a page or a mail address stays the text it is. */
function link(pieces: Piece[], target: string, all: string): Piece[] {
  const href = safeAddress(target)
  return [href ? { tag: 'a', href, pieces: pieces.map(withoutLink) } : all]
}

const sentenceEnd = '.,:;!?)]*_~'

/** The end of a sentence is not part of an address in it. */
function bareLink(address: string): Piece[] {
  let length = address.length
  while (sentenceEnd.includes(address.charAt(length - 1))) length -= 1
  const target = address.slice(0, length)
  const end = address.slice(length)
  const href = safeAddress(target)
  return href ? [{ tag: 'a', href, pieces: [target] }, ...(end ? [end] : [])] : [address]
}

/** Links cannot contain links. */
const withoutLink = (piece: Piece): Piece =>
  typeof piece === 'object' && piece.tag === 'a' ? piece.pieces.join('') : piece

/** The address as a browser reads it, if it leads to a page or to a mail address. */
export function safeAddress(target: string): string | null {
  try {
    const { protocol, href } = new URL(target)
    return ['https:', 'http:', 'mailto:'].includes(protocol) ? href : null
  } catch {
    return null
  }
}
