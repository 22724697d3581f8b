type Listener = () => void

/** Something that happens, and those who are told of it. */
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

/** Calls a listener when the API answers 401: the session may have ended. */
export const onUnauthorized = unauthorized.listen
export const noteUnauthorized = unauthorized.give

const ends = createSignal()
let hasEnded = false

/** Whether the session has ended while somebody was typing in a form, which stays on the page. */
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

/** Whether somebody has typed something in a form of the page, which would be lost with the page. */
export const hasEditedForm = (): boolean => [...edited].some(({ isConnected }) => isConnected)
