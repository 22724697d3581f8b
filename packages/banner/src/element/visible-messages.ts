import type { Message } from './message.js'

/** Longest time until the clock is read again, because timers of browsers cannot wait longer than 24 days. */
const lookMsMax = 1e9

/**
 * Creates the list of visible messages. It calls `show` with all of them, newest first, whenever they change.
 * By the clock of the server, a message is shown up to its end and removed in the next millisecond, by the
 * rule `isActive` of `packages/domain`. That also works when no more events arrive.
 */
export function createVisibleMessages(show: (messages: Message[]) => void) {
  let messages: Message[] = []
  let timer = 0
  /** Time by which the server's clock is ahead of the clock of this browser. */
  let aheadMs = 0

  const update = () => {
    clearTimeout(timer)
    const remainingMs = ({ ends_at }: Message) => Date.parse(ends_at) - Date.now() - aheadMs
    messages = messages.filter((message) => remainingMs(message) >= 0).sort((a, b) => b.id - a.id)
    timer = setTimeout(update, Math.min(lookMsMax, ...messages.map(remainingMs)) + 1)
    show(messages)
  }
  const remove = (id: number) => {
    messages = messages.filter((message) => message.id !== id)
    update()
  }
  return {
    replace(list: Message[]) {
      messages = list
      update()
    },
    put(message: Message) {
      messages.push(message)
      messages = messages.filter((other) => other === message || other.id !== message.id)
      update()
    },
    remove,
    /**
     * Sets the clock.
     *
     * @param now the server's time
     */
    setClock(now: string | null) {
      if (now) aheadMs = Date.parse(now) - Date.now()
    },
    stop: () => clearTimeout(timer),
  }
}
