import type { Message } from './message.js'

const key = 'switchyard-banner'
const entriesMax = 50

/** Version of each message that was put away, by address and id; what a message says anew is shown anew. */
type Dismissals = Record<string, string>

/** What was put away since the page was loaded, for pages that may not keep anything. */
let remembered: Dismissals = {}

function read(): Dismissals {
  try {
    return JSON.parse(localStorage.getItem(key) ?? '') ?? remembered
  } catch {
    return remembered
  }
}

const nameOf = (source: string, { id }: Message) => `${source} ${id}`

export const isDismissed = (source: string, message: Message): boolean =>
  message.dismissable && read()[nameOf(source, message)] === message.updated_at

export function dismiss(source: string, message: Message): void {
  const { [nameOf(source, message)]: _old, ...others } = read()
  const kept = [...Object.entries(others), [nameOf(source, message), message.updated_at]].slice(-entriesMax)
  remembered = Object.fromEntries(kept)
  try {
    localStorage.setItem(key, JSON.stringify(remembered))
  } catch {
    // It is away until the page is loaded again.
  }
}
