import type { Message } from './message.js'

const key = 'switchyard-banner'
const entriesMax = 50

/** Version of each dismissed message by source and id. A changed message is shown again. */
type Dismissals = Record<string, string>

/** Dismissals since the page was loaded, for pages without access to the local storage. */
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
  const { [nameOf(source, message)]: _old, ...rest } = read()
  const kept = [...Object.entries(rest), [nameOf(source, message), message.updated_at]].slice(-entriesMax)
  remembered = Object.fromEntries(kept)
  try {
    localStorage.setItem(key, JSON.stringify(remembered))
  } catch {
    // Without storage, the message stays dismissed until the page is loaded again.
  }
}
