import type { Message } from './message.js'
import { createVisibleMessages } from './visible-messages.js'

const pollMs = 15_000
/** Number of polls before the stream is tried again. */
const pollsMax = 4
/** Time after opening without an event, after which a proxy probably buffers the stream. */
const patienceMs = 5000
/** Time for the browser to reconnect a broken stream. */
const returnMs = 10_000
/** Time after which a silent stream counts as broken, because the server sends a `ping` every 15 seconds. */
const silenceMs = 30_000

/**
 * Calls `show` with all active messages, newest first, now and whenever they change. It uses the event
 * stream, or polling when the stream does not work.
 *
 * @param source `https://…/api/v4/broadcast_messages`
 * @param path path of the page, for messages that are shown on some pages only
 * @returns a function that stops following
 */
export function follow(source: string, path: string, show: (messages: Message[]) => void): () => void {
  const query = `?path=${encodeURIComponent(path)}`
  const visible = createVisibleMessages((messages) => stopped || show(messages))
  let stream: EventSource | undefined
  let timer = 0
  let failing = false
  let polls = 0
  let stopped = false

  const wait = (ms: number, act: () => unknown) => {
    clearTimeout(timer)
    if (!stopped) timer = setTimeout(act, ms)
  }

  async function poll(): Promise<void> {
    stream?.close()
    const ending = new AbortController()
    wait(pollMs, () => ending.abort())
    try {
      const response = await fetch(`${source}/active${query}`, { signal: ending.signal })
      visible.setClock(response.headers.get('Date'))
      if (response.ok) visible.replace(await response.json())
    } catch {
      // The shown messages stay until the next successful poll.
    }
    polls = (polls + 1) % pollsMax
    // The random interval spreads the polls of all clients.
    wait(pollMs * (0.8 + Math.random() * 0.4), polls ? poll : listen)
  }

  function listen(): void {
    stream?.close()
    failing = false
    stream = new EventSource(`${source}/stream${query}`)
    const on = (event: string, act: (data: never) => void) =>
      stream?.addEventListener(event, ({ data }) => {
        failing = false
        wait(silenceMs, listen)
        act(JSON.parse(data) as never)
      })
    on('ping', ({ now }: { now: string }) => visible.setClock(now))
    on('snapshot', (state: { messages: Message[]; now: string }) => {
      visible.setClock(state.now)
      visible.replace(state.messages)
    })
    on('start', visible.put)
    on('change', visible.put)
    on('end', ({ id }: Message) => visible.remove(id))
    stream.onerror = () => {
      // State 2 (CLOSED): the server has refused the stream. Otherwise the browser reconnects, and each
      // failure is an error event.
      if (stream?.readyState === 2) wait(0, poll)
      else if (!failing) wait(returnMs, poll)
      failing = true
    }
    wait(patienceMs, poll)
  }

  listen()
  return () => {
    stopped = true
    clearTimeout(timer)
    visible.stop()
    stream?.close()
  }
}
