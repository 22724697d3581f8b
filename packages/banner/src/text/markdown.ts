/** A piece of a message. A string is plain text without markup. */
export type Piece =
  | string
  | { tag: 'strong' | 'em' | 'del' | 'a'; pieces: Piece[]; href?: string }
  | { tag: 'code'; pieces: [string] }
  | { tag: 'br'; pieces: [] }

/** A form of markup: its pattern, and the conversion of a match. */
interface Markup {
  /** A sticky pattern. Every repetition is bounded, so that parsing takes linear time. */
  shape: RegExp
  /** The markup never begins inside a word. */
  beforeWord?: true
  read(found: RegExpExecArray, depth: number): Piece[]
}

const span =
  (tag: 'strong' | 'em' | 'del') =>
  ([, text = '']: RegExpExecArray, depth: number): Piece[] => [{ tag, pieces: parseMarkdown(text, depth) }]

/** Forms of markup by their first character. */
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

/** Deeper markup stays plain text. */
const depthMax = 4

/**
 * Parses a subset of Markdown: `**strong**`, `*emphasis*`, `~~struck~~`, `` `code` ``, `[links](https://…)`, bare URLs, line
 * breaks, and backslash escapes. Everything else, also HTML, is plain text.
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

/** The markup at a position; null when there is none. */
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

/** A link with a target other than a web page or a mail address stays plain text. */
function link(pieces: Piece[], target: string, all: string): Piece[] {
  const href = safeAddress(target)
  return [href ? { tag: 'a', href, pieces: pieces.map(withoutLink) } : all]
}

const sentenceEnd = '.,:;!?)]*_~'

/** A bare URL. Punctuation at its end belongs to the sentence. */
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

/** The normalized URL of a web page or a mail address; null for any other target. */
export function safeAddress(target: string): string | null {
  try {
    const { protocol, href } = new URL(target)
    return ['https:', 'http:', 'mailto:'].includes(protocol) ? href : null
  } catch {
    return null
  }
}
