import { dismiss, isDismissed } from './dismissals.js'
import { follow } from './follow.js'
import type { Message } from './message.js'
import { renderMessage } from './render-message.js'

// A content security policy that forbids inline styles allows a constructed style sheet.
const sheet = new CSSStyleSheet()
sheet.replaceSync(`
:host{display:block;font:14px/1.5 system-ui,sans-serif}
:host([hidden]){display:none}
div>div{display:flex;gap:1em;align-items:flex-start;padding:.5em 1em;overflow-wrap:anywhere}
span{flex:1;text-align:center}
a{color:inherit}
code{font-family:ui-monospace,monospace}
button{all:unset;cursor:pointer;box-sizing:border-box;min-width:24px;min-height:24px;text-align:center}
a:focus-visible,button:focus-visible{outline:2px solid;outline-offset:2px}
.notes{position:fixed;right:1em;bottom:1em;z-index:9999;width:24em;max-width:calc(100% - 2em)}
.notes>div{margin-top:.5em;border-radius:4px;box-shadow:0 2px 8px #0006}
.notes span{text-align:start}`)

/** Interval of the checks of the page's path. */
const pathMs = 300

const urgentThemes = ['red', 'light-red']

/** URL of this script, which is also the source of messages unless the attribute `src` is set. */
const home = document.currentScript instanceof HTMLScriptElement ? document.currentScript.src : ''

/**
 * `<switchyard-banner src="https://…/api/v4/broadcast_messages">` shows the active messages and follows their
 * changes. The attribute `path` is the path of the page (default: that of the current page, also after it has
 * changed), `close-label` is the accessible name of the close button.
 */
export class SwitchyardBanner extends HTMLElement {
  static readonly observedAttributes = ['src', 'path', 'close-label']
  readonly #regions: Record<'status' | 'alert' | 'notes', HTMLElement>
  readonly #boxes = new Map<number, { version: string; box: HTMLElement }>()
  #messages: Message[] = []
  #source = ''
  #path: string | undefined
  #stop: (() => void) | undefined
  #watch = 0

  constructor() {
    super()
    const root = this.attachShadow({ mode: 'open' })
    root.adoptedStyleSheets = [sheet]
    // Screen readers announce text that is added to an existing live region, but not always a region that is
    // added with its text.
    const region = (role: string, className = '') => {
      const element = document.createElement('div')
      element.setAttribute('role', role)
      element.ariaAtomic = 'false'
      element.className = className
      root.append(element)
      return element
    }
    this.#regions = { alert: region('alert'), status: region('status'), notes: region('status', 'notes') }
  }

  connectedCallback(): void {
    document.addEventListener('visibilitychange', this.#restart)
    addEventListener('storage', this.#update)
    // Not every browser reports that a page calls `history.pushState`.
    this.#watch = setInterval(() => {
      if (this.#stop && this.#pagePath() !== this.#path) this.#restart()
    }, pathMs)
    this.#restart()
  }

  disconnectedCallback(): void {
    document.removeEventListener('visibilitychange', this.#restart)
    removeEventListener('storage', this.#update)
    clearInterval(this.#watch)
    this.#stop?.()
  }

  attributeChangedCallback(): void {
    if (this.isConnected) this.#restart()
  }

  /**
   * Opens or closes the connection. A hidden page keeps no connection open, because browsers allow few
   * connections to one server.
   */
  #restart = (): void => {
    this.#stop?.()
    this.#stop = undefined
    this.#source = sourceOf(this.getAttribute('src') ?? home)
    if (document.hidden || !this.#source) return
    this.#path = this.#pagePath()
    this.#stop = follow(this.#source, this.#path, (messages) => {
      this.#messages = messages
      this.#update()
    })
  }

  #pagePath = (): string => this.getAttribute('path') ?? location.pathname

  /**
   * Changes only the boxes that differ, so that screen readers announce nothing twice and the focus stays.
   */
  #update = (): void => {
    const shown = this.#messages.filter((message) => !isDismissed(this.#source, message))
    const ids = new Set(shown.map(({ id }) => id))
    for (const [id, { box }] of this.#boxes) {
      if (ids.has(id)) continue
      box.remove()
      this.#boxes.delete(id)
    }
    const last: Partial<Record<string, HTMLElement>> = {}
    for (const message of shown) {
      const name = regionOf(message)
      const box = this.#boxOf(message)
      const before = last[name]
      const next = before ? before.nextSibling : this.#regions[name].firstChild
      if (next !== box) this.#regions[name].insertBefore(box, next)
      last[name] = box
    }
  }

  #boxOf(message: Message): HTMLElement {
    const known = this.#boxes.get(message.id)
    if (known?.version === message.updated_at) return known.box
    const label = this.getAttribute('close-label') ?? 'Dismiss message'
    const box = renderMessage(message, label, () => this.#dismiss(message))
    known?.box.remove()
    this.#boxes.set(message.id, { version: message.updated_at, box })
    return box
  }

  #dismiss(message: Message): void {
    dismiss(this.#source, message)
    this.#messages = this.#messages.filter(({ id }) => id !== message.id)
    this.#update()
    // Keyboard users continue at the next message.
    this.shadowRoot?.querySelector('button')?.focus()
  }
}

const regionOf = ({ broadcast_type, theme }: Message) =>
  broadcast_type === 'notification' ? 'notes' : urgentThemes.includes(theme) ? 'alert' : 'status'

/**
 * Returns the URL of the messages: the given one, otherwise that of the script without `banner.js`, otherwise
 * the default path of the server.
 */
function sourceOf(given: string): string {
  if (!given) return ''
  const url = new URL(given, location.href)
  const path = url.pathname.replace(/\/(banner\.js)?$/, '')
  return url.origin + (path || '/api/v4/broadcast_messages')
}
