import hljs from 'highlight.js/lib/common'

export interface HighlightRequest {
  id: number
  /** A name or file extension that highlight.js knows, otherwise the texts stay plain. */
  language: string
  texts: string[]
}

/** The HTML lines of each text; null for an unknown language. */
export interface HighlightReply {
  id: number
  lines: string[][] | null
}

self.addEventListener('message', ({ data }: MessageEvent<HighlightRequest>) => {
  const { id, language, texts } = data
  const lines = hljs.getLanguage(language)
    ? texts.map((text) => linesOf(hljs.highlight(text, { language, ignoreIllegals: true }).value))
    : null
  const reply: HighlightReply = { id, lines }
  self.postMessage(reply)
})

/** Splits HTML at line breaks. Elements across a break are closed before it and opened again after it. */
function linesOf(html: string): string[] {
  const open: string[] = []
  return html.split('\n').map((line) => {
    const before = open.join('')
    for (const [tag] of line.matchAll(/<[^<>]*>/g)) {
      if (tag === '</span>') open.pop()
      else open.push(tag)
    }
    return before + line + '</span>'.repeat(open.length)
  })
}
