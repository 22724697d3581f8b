import { readableColor } from '../text/contrast.js'
import { type Piece, parseMarkdown } from '../text/markdown.js'
import type { Message } from './message.js'

/** Builds DOM nodes one by one, so that no text of a message is parsed as HTML. */
function append(pieces: Piece[], parent: HTMLElement): void {
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      parent.append(piece)
      continue
    }
    const element = document.createElement(piece.tag)
    if (piece.tag === 'a' && piece.href) {
      element.setAttribute('href', piece.href)
      element.setAttribute('rel', 'noopener noreferrer')
    }
    append(piece.pieces, element)
    parent.append(element)
  }
}

/**
 * Renders a message.
 *
 * @param closeLabel accessible name of the close button
 * @param close called when a reader dismisses the message
 */
export function renderMessage(message: Message, closeLabel: string, close: () => void): HTMLElement {
  const box = document.createElement('div')
  box.part.add('message')
  box.style.setProperty('background', message.color)
  box.style.setProperty('color', readableColor(message.color, message.font))
  const text = document.createElement('span')
  text.dir = 'auto'
  append(parseMarkdown(message.message), text)
  box.append(text)
  if (message.dismissable) {
    const button = document.createElement('button')
    button.type = 'button'
    button.part.add('close')
    button.ariaLabel = closeLabel
    button.append('✕')
    button.onclick = close
    box.append(button)
    box.onkeydown = ({ key }) => {
      if (key === 'Escape') close()
    }
  }
  return box
}
