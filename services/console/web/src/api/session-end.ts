type Listener = () => void

/** Creates an event, to which listeners can subscribe. */
function createSignal() {
  const listeners = new Set<Listener>()
  return {
    listen(listener: Listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    give() {
      for (const listener of listeners) listener()
    },
  }
}

const unauthorized = createSignal()

/** Calls a listener when the API answers 401, because the session may have ended. */
export const onUnauthorized = unauthorized.listen
export const noteUnauthorized = unauthorized.give

const ends = createSignal()
let hasEnded = false

/** Whether the session has ended while the page has unsaved work, which must stay on it. */
export const endedSession = {
  subscribe: ends.listen,
  get: () => hasEnded,
  set(value: boolean) {
    hasEnded = value
    ends.give()
  },
}

const edited = new Set<HTMLFormElement>()

const isField = (target: EventTarget | null) =>
  target instanceof HTMLInputElement ||
  target instanceof HTMLTextAreaElement ||
  target instanceof HTMLSelectElement

document.addEventListener('input', ({ target }) => {
  for (const form of edited) if (!form.isConnected) edited.delete(form)
  if (isField(target) && target.form) edited.add(target.form)
})

const held = new Set<object>()

/**
 * Keeps the page when the session ends, because it has unsaved work.
 *
 * @returns a function that stops keeping it
 */
export function holdPage(): () => void {
  const hold = {}
  held.add(hold)
  return () => held.delete(hold)
}

/** Returns whether the page has unsaved work, such as a form with typed text. */
export const hasUnsavedWork = (): boolean =>
  held.size > 0 || [...edited].some(({ isConnected }) => isConnected)
