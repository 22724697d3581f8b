import type { ServerResponse } from 'node:http'

/** Yields what listeners should have got by now; rejects when it cannot be had. */
export type ReadState = () => Promise<unknown>

export interface Streams {
  /** Sends the state at once, then whenever it has changed, until the client leaves or its time is over. */
  open(response: ServerResponse, channel: string, read: ReadState): Promise<void>
  /** Listeners at this moment. */
  readonly size: number
  close(): void
}

export interface StreamsOptions {
  /** How often the state is looked at. */
  intervalMs: number
  /** How long one connection lives; a client comes back by itself, perhaps to another replica. */
  lifeMs: number
}

/** Connections that one process keeps open. */
export const streamsMax = 500

/** Bytes that a client may be behind before it is cut off. */
const behindBytesMax = 4 * 1024 * 1024
const pingMs = 15_000
const retryMs = 2000

interface Channel {
  listeners: Set<ServerResponse>
  last: string
  lastSentMs: number
}

/** Server-sent events: any number of listeners of a channel cost one look at its state. */
export function createStreams({ intervalMs, lifeMs }: StreamsOptions): Streams {
  const channels = new Map<string, Channel>()
  const size = () => [...channels.values()].reduce((sum, { listeners }) => sum + listeners.size, 0)

  function send(channel: Channel, text: string): void {
    channel.lastSentMs = performance.now()
    for (const listener of channel.listeners) {
      if (listener.writableLength > behindBytesMax) listener.destroy()
      else listener.write(text)
    }
  }

  async function watch(name: string, channel: Channel, read: ReadState): Promise<void> {
    while (channel.listeners.size > 0) {
      await new Promise((resolve) => setTimeout(resolve, intervalMs))
      const event = await eventOf(read)
      if (event !== channel.last) send(channel, event)
      else if (performance.now() - channel.lastSentMs > pingMs) send(channel, ': still here\n\n')
      channel.last = event
    }
    channels.delete(name)
  }

  return {
    get size() {
      return size()
    },
    async open(response, name, read) {
      const event = await eventOf(read)
      // It may have gone away meanwhile, and would never be said to.
      if (response.destroyed) return
      response.writeHead(200, {
        'Content-Type': 'text/event-stream',
        'Cache-Control': 'no-store',
        // nginx gathers answers otherwise.
        'X-Accel-Buffering': 'no',
      })
      response.write(`retry: ${retryMs}\n\n${event}`)
      const known = channels.get(name)
      // All listeners of a channel have been sent the same last, or one of them would miss a change back to it.
      if (known && event !== known.last) {
        send(known, event)
        known.last = event
      }
      const channel = known ?? { listeners: new Set(), last: event, lastSentMs: performance.now() }
      channel.listeners.add(response)
      const life = setTimeout(() => response.end(), lifeMs)
      response.once('close', () => {
        clearTimeout(life)
        channel.listeners.delete(response)
      })
      if (known) return
      channels.set(name, channel)
      void watch(name, channel, read)
    },
    close() {
      for (const { listeners } of channels.values()) for (const listener of listeners) listener.end()
    },
  }
}

/** A failure is told as an event of its own, without its reasons: old figures must not look like new ones. */
async function eventOf(read: ReadState): Promise<string> {
  try {
    return `event: metrics\ndata: ${JSON.stringify(await read())}\n\n`
  } catch (error) {
    const message = error instanceof Error ? error.message : ''
    return `event: unavailable\ndata: ${JSON.stringify({ message })}\n\n`
  }
}
