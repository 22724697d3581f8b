import { type Piece, parseMarkdown } from '@switchyard/banner/text'
import { createElement } from 'react'
import { visibleControls } from '../lib/format'

/** The text of a broadcast message, with the same small markup as on every site. */
export const MessageText = ({ text }: { text: string }) => (
  <span dir="auto">{parseMarkdown(text).map(show)}</span>
)

function show(piece: Piece, index: number): React.ReactNode {
  if (typeof piece === 'string') return visibleControls(piece)
  const attributes = 'href' in piece && piece.href ? { href: piece.href, rel: 'noopener noreferrer' } : {}
  const look = piece.tag === 'a' ? { className: 'underline' } : {}
  const inner = piece.pieces.length > 0 ? piece.pieces.map(show) : undefined
  return createElement(piece.tag, { key: index, ...attributes, ...look }, inner)
}

/** Returns the text of a message without its markup, for places without links. */
export const plainText = (text: string): string => parseMarkdown(text).map(flat).join('')

const flat = (piece: Piece): string => (typeof piece === 'string' ? piece : piece.pieces.map(flat).join(''))
