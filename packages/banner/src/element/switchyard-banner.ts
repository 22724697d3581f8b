import { dismiss, isDismissed } from './dismissals.js'
import { follow } from './follow.js'
import type { Message } from './message.js'
import { renderMessage } from './render-message.js'

// A sheet of its own is no inline style to a content security policy.
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

const urgentThemes = ['red', 'light-red']

/** Where this script came from is where messages come from, unless `src` says otherwise. */
const home = document.currentScript instanceof HTMLScriptElement ? document.currentScript.src : ''

/**
 * `<switchyard-banner src="https://…/api/v4/broadcast_messages">` shows the messages that are on, as they
 * come, change and go. `path` is the page they are shown for (the one it stands on), `close-label` what a
 * screen reader calls the button.
 */
export class SwitchyardBanner extends HTMLElement {
  static readonly observedAttributes = ['src', 'path', 'close-label']
  readonly #regions: Record<'status' | 'alert' | 'notes', HTMLElement>
  readonly #boxes = new Map<number, { version: string; box: HTMLElement }>()
  #messages: Message[] = []
  #source = ''
  #stop: (() => void) | undefined

  constructor() {
    super()
    const root = this.attachShadow({ mode: 'open' })
    root.adoptedStyleSheets = [sheet]
    // What is put into a region later is read out; a region that comes with its text may not be.
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
    addEventListener('popstate', this.#restart)
    addEventListener('storage', this.#update)
    this.#restart()
  }

  disconnectedCallback(): void {
    document.removeEventListener('visibilitychange', this.#restart)
    removeEventListener('popstate', this.#restart)
    removeEventListener('storage', this.#update)
    this.#stop?.()
  }

  attributeChangedCallback(): void {
    if (this.isConnected) this.#restart()
  }

  /** A page nobody looks at holds no connection: browsers allow few of them to one server. */
  #restart = (): void => {
    this.#stop?.()
    this.#stop = undefined
    this.#source = sourceOf(this.getAttribute('src') ?? home)
    if (document.hidden || !this.#source) return
    const path = this.getAttribute('path') ?? location.pathname
    this.#stop = follow(this.#source, path, (messages) => {
      this.#messages = messages
      this.#update()
    })
  }

  /** Touches only what differs, so that nothing is read out twice and no focus is lost. */
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
      const place = before ? before.nextSibling : this.#regions[name].firstChild
      if (place !== box) this.#regions[name].insertBefore(box, place)
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
    // Whoever uses the keyboard goes on at the next message.
    this.shadowRoot?.querySelector('button')?.focus()
  }
}

const regionOf = ({ broadcast_type, theme }: Message) =>
  broadcast_type === 'notification' ? 'notes' : urgentThemes.includes(theme) ? 'alert' : 'status'

/** The address of the messages: as given, of the script beside them, or of the server's root. */
function sourceOf(given: string): string {
  if (!given) return ''
  const url = new URL(given, location.href)
  const path = url.pathname.replace(/\/(banner\.js)?$/, '')
  return url.origin + (path || '/api/v4/broadcast_messages')
}
