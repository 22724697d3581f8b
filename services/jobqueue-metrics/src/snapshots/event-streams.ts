import type { ServerResponse } from 'node:http'
import { eventStreamHeaders } from '@switchyard/service-kit/http'

/** Reads the state that listeners are to see; rejects while it cannot be read. */
type ReadState = () => Promise<unknown>

export interface EventStreams {
  /**
   * Sends the state at once, then whenever it has changed, until the client disconnects or `lifeMs` have passed.
   *
   * @param channel listeners of one channel share the reads of its state
   */
  open(response: ServerResponse, channel: string, read: ReadState): Promise<void>
  /**
   * Ends every stream. A stream that is opened later ends after its first event. It is not refused, because a browser does not
   * connect again after a refusal.
   */
  close(): void
}

interface EventStreamsOptions {
  /** Time between two reads of a state. */
  intervalMs: number
  /** How long one connection lasts. Its token is checked when the client connects again. */
  lifeMs: number
  /** A client that reads nothing for this long is disconnected. */
  stallMs?: number
}

const pingMs = 15_000
const retryMs = 2000

interface Channel {
  listeners: Set<Listener>
  /** The event that every listener has been sent, or is sent once it has taken the one before. */
  last: string
  lastSentMs: number
}

/** Server-sent events. Any number of listeners of a channel cost one read of its state every interval. */
export function createEventStreams({
  intervalMs,
  lifeMs,
  stallMs = 30_000,
}: EventStreamsOptions): EventStreams {
  const channels = new Map<string, Channel>()
  let isClosed = false

  function send(channel: Channel, event: string): void {
    channel.last = event
    channel.lastSentMs = performance.now()
    for (const listener of channel.listeners) listener.sendState(event)
  }

  async function watch(name: string, channel: Channel, read: ReadState): Promise<void> {
    while (channel.listeners.size > 0) {
      await new Promise((resolve) => setTimeout(resolve, intervalMs))
      const event = await eventOf(read)
      for (const listener of channel.listeners) listener.disconnectWhenStalled()
      if (event !== channel.last) send(channel, event)
      else if (performance.now() - channel.lastSentMs > pingMs) {
        channel.lastSentMs = performance.now()
        for (const listener of channel.listeners) listener.sendPing()
      }
    }
    channels.delete(name)
  }

  return {
    async open(response, name, read) {
      const event = await eventOf(read)
      // When the client disconnected during the read, 'close' was emitted before: nothing would ever remove its listener.
      if (response.destroyed) return
      response.writeHead(200, eventStreamHeaders)
      response.write(`retry: ${retryMs}\n\n`)
      const known = channels.get(name)
      const channel = known ?? { listeners: new Set(), last: event, lastSentMs: performance.now() }
      // All listeners of a channel have the same last event, so one comparison with it decides for all of them.
      if (event !== channel.last) send(channel, event)
      const listener = new Listener(response, stallMs)
      listener.sendState(event)
      if (isClosed) return listener.end()
      channel.listeners.add(listener)
      const life = setTimeout(() => listener.end(), lifeMs)
      response.once('close', () => {
        clearTimeout(life)
        channel.listeners.delete(listener)
      })
      if (known) return
      channels.set(name, channel)
      void watch(name, channel, read)
    },
    close() {
      isClosed = true
      for (const { listeners } of channels.values()) for (const listener of listeners) listener.end()
    },
  }
}

/**
 * One client. Each event is the whole state, so that a client that reads slowly can skip events: at most one waits in its
 * connection, and only the newest one here.
 */
class Listener {
  #skipped: string | null = null
  #behindSinceMs = 0

  constructor(
    private readonly response: ServerResponse,
    private readonly stallMs: number,
  ) {
    response.on('drain', () => {
      const event = this.#skipped
      this.#skipped = null
      if (event !== null) this.sendState(event)
    })
  }

  sendState(event: string): void {
    if (this.response.writableEnded) return
    if (this.response.writableNeedDrain) this.#skipped = event
    else if (!this.response.write(event)) this.#behindSinceMs = performance.now()
  }

  /** An event besides the comment, because browsers show no comments to a page. */
  sendPing(): void {
    const { writableEnded, writableNeedDrain } = this.response
    if (!writableEnded && !writableNeedDrain) this.response.write(': still here\nevent: ping\ndata: {}\n\n')
  }

  disconnectWhenStalled(): void {
    const isBehind = this.response.writableNeedDrain
    if (isBehind && performance.now() - this.#behindSinceMs > this.stallMs) this.response.destroy()
  }

  /** A client that reads nothing would keep the connection open for ever, so that it is closed after `stallMs`. */
  end(): void {
    this.response.end()
    setTimeout(() => this.response.destroy(), this.stallMs).unref()
  }
}

/** A failed read is an event, because old figures must not look like new ones. Its message has no internal text. */
async function eventOf(read: ReadState): Promise<string> {
  try {
    return `event: metrics\ndata: ${JSON.stringify(await read())}\n\n`
  } catch (error) {
    const message = error instanceof Error ? error.message : ''
    return `event: unavailable\ndata: ${JSON.stringify({ message })}\n\n`
  }
}
