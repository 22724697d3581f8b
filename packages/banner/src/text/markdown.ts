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
  read(found: RegExpExecArray, depth: number): Piece[]
}

const span =
  (tag: 'strong' | 'em' | 'del') =>
  ([, text = '']: RegExpExecArray, depth: number): Piece[] => [{ tag, pieces: parseMarkdown(text, depth) }]

/**
 * Bare addresses, by GFM's rules, except that they end before full-width punctuation, which follows without a
 * blank.
 */
const bare: Markup[] = [
  {
    shape:
      /(?<![a-z0-9])(https?:\/\/|www\.|mailto:[^\s<>@]{1,64}@)[^\s<>`、。〈-】！（），．：；？”…]{1,2000}/iy,
    read: ([address]) => bareLink(address),
  },
]

const mail: Markup = {
  shape: /(?<![\w.+@-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,9}(?<![_-])/y,
  read: ([address]) => link([address], `mailto:${address}`, address),
}

/** Forms of markup by their first character. */
const markup = new Map<string, Markup[]>(
  Object.entries({
    '\\': [{ shape: /\\([!-/:-@[-`{-~])/y, read: ([, escaped = '']) => [escaped] }],
    '`': [{ shape: /`([^`\n]{1,500})`/y, read: ([, code = '']) => [{ tag: 'code', pieces: [code] }] }],
    '[': [
      {
        // As in CommonMark, the parentheses in a target are balanced, unless the target is between angle
        // brackets.
        shape:
          /\[([^[\]\n]{1,500})\]\((?:<([^<>\n]{1,2000})>|((?:[^\s()<>]|\((?:[^\s()<>]|\([^\s()<>]{0,500}\)){0,500}\)){1,2000}))\)/y,
        read: ([all, label = '', bracketed, target], depth) =>
          link(parseMarkdown(label, depth), bracketed ?? target ?? '', all),
      },
    ],
    '<': [
      {
        shape: /<((?:https?:|mailto:)[^\s<>]{1,2000})>/iy,
        read: ([all, target = '']) => link([target], target, all),
      },
    ],
    '*': [
      { shape: /\*\*(?=\S)([^\n]{1,1000}?)(?<=\S)\*\*/y, read: span('strong') },
      { shape: /(?<!\w)\*(?=[^\s*_])([^\n]{1,1000}?)(?<![\s*_])\*(?![\w*_])/y, read: span('em') },
    ],
    // Underscores within a word belong to the word, in every script.
    _: [
      {
        shape: /(?<![\p{L}\p{N}_])_(?=[^\s*_])([^\n]{1,1000}?)(?<![\s*_])_(?![\p{L}\p{N}*_])/uy,
        read: span('em'),
      },
    ],
    '~': [{ shape: /~~(?=\S)([^\n]{1,1000}?)(?<=\S)~~/y, read: span('del') }],
    h: bare,
    m: bare,
    w: bare,
    '\n': [{ shape: /\n/y, read: () => [{ tag: 'br', pieces: [] }] }],
  } satisfies Record<string, Markup[]>),
)

/** Deepest nesting of markup. Deeper markup stays plain text. */
const depthMax = 4

/**
 * Parses a subset of Markdown: `**strong**`, `*emphasis*`, `~~struck~~`, `` `code` ``, `[links](https://…)`,
 * bare addresses, line breaks, and backslash escapes. Everything else, including HTML, is plain text.
 */
export function parseMarkdown(text: string, depth = 0): Piece[] {
  const source = depth === 0 ? text.trim().replace(/\r\n?/g, '\n') : text
  if (depth >= depthMax) return source === '' ? [] : [source]
  const pieces: Piece[] = []
  let plainStart = 0
  let at = 0
  while (at < source.length) {
    const found = readMarkup(source, at, depth + 1)
    if (!found) {
      at += 1
      continue
    }
    if (at > plainStart) pieces.push(source.slice(plainStart, at))
    pieces.push(...found.pieces)
    at += found.length
    plainStart = at
  }
  if (plainStart < source.length) pieces.push(source.slice(plainStart))
  return pieces
}

/** Reads the markup at a position; null when there is none. */
function readMarkup(text: string, at: number, depth: number) {
  for (const { shape, read } of [...(markup.get(text.charAt(at).toLowerCase()) ?? []), mail]) {
    shape.lastIndex = at
    const found = shape.exec(text)
    if (found) return { pieces: read(found, depth), length: found[0].length }
  }
  return null
}

/** Returns a link, or the plain text when the target is neither a web page nor a mail address. */
function link(pieces: Piece[], target: string, all: string): Piece[] {
  const href = safeAddress(target)
  return [href ? { tag: 'a', href, pieces: pieces.map(withoutLink) } : all]
}

/**
 * Returns a bare address as a link. Punctuation at its end belongs to the sentence, and so does a closing
 * parenthesis without an opening one.
 */
function bareLink(address: string): Piece[] {
  let { length } = address
  let unopened = address.split(')').length - address.split('(').length
  for (; /[.,:;!?\])*_~'"]/.test(address.charAt(length - 1)); length -= 1) {
    if (address.charAt(length - 1) === ')' && unopened-- <= 0) break
    // Text that looks like a character reference, such as `&copy;`, is not part of the address.
    length -= /&[a-z0-9]{1,31}(?=;$)/i.exec(address.slice(0, length))?.[0].length ?? 0
  }
  const target = address.slice(0, length)
  return [
    ...link([target], /^w/i.test(target) ? `http://${target}` : target, target),
    address.slice(length),
  ].filter(Boolean)
}

/** Removes links inside of a link, because links cannot contain links. */
const withoutLink = (piece: Piece): Piece =>
  typeof piece === 'object' && piece.tag === 'a' ? piece.pieces.join('') : piece

/** Returns the normalized URL of a web page or a mail address; null for any other target. */
export function safeAddress(target: string): string | null {
  try {
    const { protocol, href } = new URL(target)
    return ['https:', 'http:', 'mailto:'].includes(protocol) ? href : null
  } catch {
    return null
  }
}
