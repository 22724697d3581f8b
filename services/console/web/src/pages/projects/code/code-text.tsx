import { memo } from 'react'
import { visibleControls } from '../../../lib/format'
import './highlight.css'

interface Segment {
  text: string
  className: string
}

const entities: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#x27;': "'",
}

/** Parses one line of highlight.js, which consists of spans with classes and escaped text. */
function segmentsOf(html: string): Segment[] {
  const classes: string[] = []
  const segments: Segment[] = []
  for (const [piece, className] of html.matchAll(/<span class="([^"]*)">|<\/span>|[^<]+/g)) {
    if (className !== undefined) classes.push(className)
    else if (piece === '</span>') classes.pop()
    else
      segments.push({
        text: piece.replace(/&(?:amp|lt|gt|quot|#x27);/g, (entity) => entities[entity] ?? entity),
        className: classes.at(-1) ?? '',
      })
  }
  return segments
}

/**
 * A line of code.
 *
 * @param html the line with the classes of highlight.js; unset: plain text
 */
export const CodeText = memo(function CodeText({ text, html }: { text: string; html?: string | undefined }) {
  if (html === undefined) return visibleControls(text)
  let offset = 0
  return segmentsOf(html).map(({ text, className }) => {
    offset += text.length
    return (
      <span key={offset} className={className}>
        {text}
      </span>
    )
  })
})
