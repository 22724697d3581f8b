import type { Message } from './message.js'

const pollMs = 15_000
/** Number of polls before the stream is tried again. */
const pollsMax = 4
/** Without an event for this long after opening, a proxy probably buffers the stream. */
const patienceMs = 5000
/** Time for the browser to reconnect a broken stream. */
const returnMs = 10_000

/**
 * Calls `show` with all messages, newest first, now and whenever they change. It uses the event stream, or polling when the
 * stream does not work.
 *
 * @param source `https://…/api/v4/broadcast_messages`
 * @param path path of the page, for messages that are shown on some pages only
 * @returns a function that stops following
 */
export function follow(source: string, path: string, show: (messages: Message[]) => void): () => void {
  const query = `?path=${encodeURIComponent(path)}`
  let messages = new Map<number, Message>()
  let stream: EventSource | undefined
  let timer = 0
  let polls = 0
  let stopped = false

  const wait = (ms: number, act: () => unknown) => {
    clearTimeout(timer)
    if (!stopped) timer = setTimeout(() => act(), ms)
  }
  const update = () => {
    if (!stopped) show([...messages.values()].sort((a, b) => b.id - a.id))
  }
  const replace = (list: Message[]) => {
    messages = new Map(list.map((message) => [message.id, message]))
    update()
  }

  async function poll(): Promise<void> {
    stream?.close()
    try {
      const response = await fetch(`${source}/active${query}`)
      if (response.ok) replace(await response.json())
    } catch {
      // The shown messages stay until the next successful poll.
    }
    polls = (polls + 1) % pollsMax
    // The random interval spreads the polls of all clients.
    wait(pollMs * (0.8 + Math.random() * 0.4), polls ? poll : listen)
  }

  function listen(): void {
    if (!('EventSource' in window)) return void poll()
    stream = new EventSource(`${source}/stream${query}`)
    const on = (event: string, act: (data: never) => void) =>
      stream?.addEventListener(event, ({ data }) => {
        clearTimeout(timer)
        timer = 0
        act(JSON.parse(data) as never)
      })
    const put = (message: Message) => {
      messages.set(message.id, message)
      update()
    }
    on('snapshot', (state: { messages: Message[] }) => replace(state.messages))
    on('start', put)
    on('change', put)
    on('end', ({ id }: { id: number }) => {
      messages.delete(id)
      update()
    })
    stream.onerror = () => {
      // State 2 (CLOSED): the server has refused the stream. Otherwise the browser reconnects, and each failure is an error event.
      if (stream?.readyState === 2) wait(0, poll)
      else if (!timer) wait(returnMs, poll)
    }
    wait(patienceMs, poll)
  }

  listen()
  return () => {
    stopped = true
    clearTimeout(timer)
    stream?.close()
  }
}
