/** A piece of a message. Text is text: nothing in it is markup any more. */
export type Piece =
  | string
  | { tag: 'strong' | 'em' | 'del' | 'a'; pieces: Piece[]; href?: string }
  | { tag: 'code'; pieces: [string] }
  | { tag: 'br'; pieces: [] }

/**
 * In this order: an escaped character, code, a link, a bare address, strong, emphasised and struck text, a new
 * line. Every repetition has an upper bound, so that no message can keep a browser busy.
 */
const markup = new RegExp(
  [
    /\\([!-/:-@[-`{-~])/,
    /`([^`\n]{1,500})`/,
    /\[([^[\]\n]{1,500})\]\(<?([^\s()<>]{1,2000})>?\)/,
    /\b(https?:\/\/[^\s<>"'`]{1,2000})/,
    /\*\*(?=\S)([^\n]{1,1000}?)(?<=\S)\*\*/,
    /(?<!\w)(?<mark>[*_])(?=[^\s*_])([^\n]{1,1000}?)(?<![\s*_])\k<mark>(?![\w*_])/,
    /~~(?=\S)([^\n]{1,1000}?)(?<=\S)~~/,
    /\n/,
  ]
    .map(({ source }) => source)
    .join('|'),
)

/** Nothing a message needs is nested deeper. */
const depthMax = 4

/**
 * Reads a subset of Markdown: `**strong**`, `*emphasis*`, `~~struck~~`, `` `code` ``, `[links](https://…)`, bare
 * addresses, new lines, and a backslash before what is to stand as it is. Everything else, HTML too, is text.
 */
export function parseMarkdown(text: string, depth = 0): Piece[] {
  const pieces: Piece[] = []
  let rest = depth === 0 ? text.trim().replace(/\r\n?/g, '\n') : text
  while (rest !== '') {
    const found = depth < depthMax ? markup.exec(rest) : null
    if (!found) break
    if (found.index > 0) pieces.push(rest.slice(0, found.index))
    pieces.push(...read(found, depth + 1))
    rest = rest.slice(found.index + found[0].length)
  }
  if (rest !== '') pieces.push(rest)
  return pieces
}

function read(found: RegExpExecArray, depth: number): Piece[] {
  const [all, escaped, code, label, target, address, strong, , emphasis, struck] = found
  if (escaped) return [escaped]
  if (code) return [{ tag: 'code', pieces: [code] }]
  if (label && target) return link(parseMarkdown(label, depth), target, all)
  if (address) return bareLink(address)
  if (strong) return [{ tag: 'strong', pieces: parseMarkdown(strong, depth) }]
  if (emphasis) return [{ tag: 'em', pieces: parseMarkdown(emphasis, depth) }]
  if (struck) return [{ tag: 'del', pieces: parseMarkdown(struck, depth) }]
  return [{ tag: 'br', pieces: [] }]
}

/** A link somewhere else than to a page or a mail address stays the text it is. */
function link(pieces: Piece[], target: string, all: string): Piece[] {
  const href = safeAddress(target)
  return [href ? { tag: 'a', href, pieces: pieces.map(withoutLink) } : all]
}

/** The end of a sentence is not part of an address in it. */
function bareLink(address: string): Piece[] {
  const end = /[.,:;!?)\]*_~]+$/.exec(address)?.[0] ?? ''
  const target = address.slice(0, address.length - end.length)
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
