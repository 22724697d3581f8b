import type { ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { type EventStream, EventStreams, eventText } from '@switchyard/service-kit/http'

/** A function that reads the state for listeners; rejects while it cannot be read. */
type ReadState = () => Promise<unknown>

export interface StateStreams {
  /**
   * Sends the state at once, then whenever it has changed, until the client disconnects or `lifeMs` have
   * passed.
   *
   * @param channel listeners of one channel share the reads of its state
   */
  open(response: ServerResponse, channel: string, read: ReadState): Promise<void>
  /** Ends every stream. A later stream ends after its first event. */
  close(): void
}

interface StateStreamsOptions {
  /** Time between two reads of a state. */
  intervalMs: number
  /** Longest life of a connection. Its token is checked when the client connects again. */
  lifeMs: number
  /** Time after which a client that reads nothing is disconnected. */
  stallMs?: number
}

const retryMs = { least: 1000, most: 3000 }

interface Channel {
  listeners: Set<Listener>
  /** The last event, which every listener has received, or will receive when it has read the previous one. */
  last: string
}

/**
 * Creates server-sent events of a state. Any number of listeners of a channel costs one read of its state per
 * interval.
 */
export function createStateStreams({
  intervalMs,
  lifeMs,
  stallMs = 30_000,
}: StateStreamsOptions): StateStreams {
  const channels = new Map<string, Channel>()
  const streams = new EventStreams({ retryMs, stallMs })

  function send(channel: Channel, event: string): void {
    channel.last = event
    for (const listener of channel.listeners) listener.sendState(event)
  }

  async function watch(name: string, channel: Channel, read: ReadState): Promise<void> {
    while (channel.listeners.size > 0) {
      await delay(intervalMs)
      const event = await eventOf(read)
      if (event !== channel.last) send(channel, event)
    }
    channels.delete(name)
  }

  return {
    async open(response, name, read) {
      const event = await eventOf(read)
      // When the client disconnected during the read, 'close' was emitted before, so nothing would ever
      // remove its listener.
      if (response.destroyed) return
      const known = channels.get(name)
      const channel = known ?? { listeners: new Set(), last: event }
      // All listeners of a channel have the same last event, so one comparison decides for all of them.
      if (event !== channel.last) send(channel, event)
      const stream = streams.open(response, event)
      const listener = new Listener(stream)
      if (response.writableEnded) return
      channel.listeners.add(listener)
      const life = setTimeout(() => stream.end(), lifeMs)
      response.once('close', () => {
        clearTimeout(life)
        channel.listeners.delete(listener)
      })
      if (known) return
      channels.set(name, channel)
      void watch(name, channel, read)
    },
    close: () => streams.close(),
  }
}

/**
 * One client. Each event is the whole state, so a slow client can skip events: at most one waits in its
 * connection, and only the newest one here.
 */
class Listener {
  #skipped: string | null = null
  #isCatchingUp = false

  constructor(private readonly stream: EventStream) {}

  sendState(event: string): void {
    if (this.stream.isBehind) {
      this.#skipped = event
      void this.#catchUp()
    } else {
      this.#skipped = null
      this.stream.send(event)
    }
  }

  async #catchUp(): Promise<void> {
    if (this.#isCatchingUp) return
    this.#isCatchingUp = true
    const isOpen = await this.stream.drained()
    this.#isCatchingUp = false
    if (isOpen && this.#skipped !== null) this.sendState(this.#skipped)
  }
}

/**
 * Returns the event of a read. A failed read is an event, too, because old metrics must not look current. Its
 * message has no internal text.
 */
async function eventOf(read: ReadState): Promise<string> {
  try {
    return eventText({ event: 'metrics', data: await read() })
  } catch (error) {
    const message = error instanceof Error ? error.message : ''
    return eventText({ event: 'unavailable', data: { message } })
  }
}
