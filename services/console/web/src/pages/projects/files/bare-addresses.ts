import { type Piece, parseMarkdown } from '@switchyard/banner/text'

/** The part of a Markdown node that links need. */
interface Node {
  type: string
  value?: string
  url?: string
  title?: string | null
  children?: Node[]
  position?: { start: { offset?: number }; end: { offset?: number } }
}

/**
 * Returns a remark plugin that ends bare addresses before full-width punctuation, which follows them without
 * a blank. By GFM alone, the punctuation and the following sentence would belong to the address.
 */
export const endBareAddresses = () => split

function split(node: Node): void {
  node.children = node.children?.flatMap((child) => {
    const text = bareText(child)
    if (text !== null) return parseMarkdown(text).map(nodeOf)
    split(child)
    return [child]
  })
}

/**
 * Returns the text of a link that is a bare address; null for any other node. The text of an address between
 * angle brackets is shorter than its source.
 */
function bareText({ type, children, position }: Node): string | null {
  const [only] = children ?? []
  if (type !== 'link' || children?.length !== 1 || only?.value === undefined) return null
  const { start, end } = position ?? { start: {}, end: {} }
  const isBare = position === undefined || (end.offset ?? 0) - (start.offset ?? 0) === only.value.length
  return isBare && /[、。〈-】！（），．：；？”…]/.test(only.value) ? only.value : null
}

const nodeOf = (piece: Piece): Node => {
  if (typeof piece === 'string') return { type: 'text', value: piece }
  const children = piece.pieces.map(nodeOf)
  return piece.tag === 'a'
    ? { type: 'link', url: piece.href ?? '', title: null, children }
    : { type: 'text', value: flat(piece) }
}

const flat = (piece: Piece): string => (typeof piece === 'string' ? piece : piece.pieces.map(flat).join(''))
