import type { ServerResponse } from 'node:http'
import type { Call } from './endpoint.js'

const headers = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // A proxy that compresses the stream would hold back events.
  'Cache-Control': 'no-cache, no-transform',
  // nginx would collect the whole answer before sending any of it.
  'X-Accel-Buffering': 'no',
}

const pingEveryMs = 15_000

export interface ServerSentEvent {
  /**
   * Position from which a client continues after a reconnect. The client sends it back as `Last-Event-ID`.
   */
  id?: number
  /** Unset: `message`. */
  event?: string
  data: unknown
}

/** Returns an event in the form in which a stream contains it. */
export const eventText = ({ id, event, data }: ServerSentEvent): string =>
  `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`

/**
 * Answers a HEAD request for a stream with the headers of the stream. Express passes such a request to the
 * handler of GET, and the stream would never end.
 *
 * @returns whether the request was a HEAD request
 */
export function answerHead({ raw: { request, response } }: Pick<Call, 'raw'>): boolean {
  if (request.method !== 'HEAD') return false
  response.writeHead(200, headers).end()
  return true
}

export interface EventStreamOptions {
  /**
   * Range of the random time after which a client reconnects once its stream has ended, so that not all
   * reconnect at the same moment.
   */
  retryMs: { least: number; most: number }
  /** A client with unread data for this time is disconnected. */
  stallMs: number
  /** A client with this much unread data is disconnected. Unset: its sender waits until it has read. */
  unreadBytesMax?: number
}

/** The answer to one client that receives server-sent events. */
export class EventStream {
  readonly #response: ServerResponse
  readonly #options: EventStreamOptions
  #stall: NodeJS.Timeout | undefined

  /** Begins the answer with its first event, and with the time after which a client reconnects. */
  constructor(response: ServerResponse, options: EventStreamOptions, first: string) {
    this.#response = response
    this.#options = options
    const { least, most } = options.retryMs
    const retryMs = Math.round(least + Math.random() * (most - least))
    response.on('drain', () => this.#stopWatching())
    response.once('close', () => this.#stopWatching())
    if (!response.destroyed) response.writeHead(200, headers)
    this.send(`retry: ${retryMs}\n\n${first}`)
  }

  /** Returns whether the client has unread data. */
  get isBehind(): boolean {
    return this.#response.writableNeedDrain
  }

  /**
   * Sends events.
   *
   * @param text of whole events
   * @returns whether the client accepts more; false also when it is gone
   */
  send(text: string): boolean {
    const { destroyed, writableEnded, writableLength } = this.#response
    if (destroyed || writableEnded) return false
    if (writableLength > (this.#options.unreadBytesMax ?? Number.POSITIVE_INFINITY)) {
      this.#response.destroy()
      return false
    }
    const takesMore = this.#response.write(text)
    if (!takesMore) this.#watch()
    return takesMore
  }

  /**
   * Waits until the client has read everything.
   *
   * @returns false when the client is gone, or its stream has ended
   */
  async drained(): Promise<boolean> {
    const response = this.#response
    if (this.isBehind && !response.closed) {
      await new Promise<void>((resolve) => {
        const settle = () => {
          response.off('drain', settle)
          response.off('close', settle)
          resolve()
        }
        response.on('drain', settle)
        response.on('close', settle)
      })
    }
    return !response.destroyed && !response.writableEnded
  }

  /** Ends the answer properly, so that the client reconnects. A client that does not read is disconnected. */
  end(last = ''): void {
    if (this.#response.destroyed || this.#response.writableEnded) return
    this.#response.end(last)
    this.#watch()
  }

  #watch(): void {
    this.#stall ??= setTimeout(() => this.#response.destroy(), this.#options.stallMs).unref()
  }

  #stopWatching(): void {
    clearTimeout(this.#stall)
    this.#stall = undefined
  }
}

export interface EventStreamsOptions extends EventStreamOptions {
  /** Returns the data of the regular event `ping`. Unset: `{}`. */
  pingData?: () => unknown
}

/**
 * The open streams of a process. Each receives an event `ping` every 15 seconds. The ping keeps proxies from
 * closing a quiet connection, fails when the client is gone, and shows the client that the stream still
 * works. It is an event because browsers hide comments from a page.
 */
export class EventStreams {
  readonly #options: EventStreamsOptions
  readonly #open = new Set<EventStream>()
  #isClosed = false

  constructor(options: EventStreamsOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#open.size
  }

  /**
   * Begins a stream with its first event. While the process stops, it is also the last event, because a
   * browser reconnects after the end of a stream, but not after a refusal.
   */
  open(response: ServerResponse, first: string): EventStream {
    const stream = new EventStream(response, this.#options, first)
    if (this.#isClosed) stream.end()
    // For a client that has gone, the event `close` came before.
    else if (!response.closed) {
      this.#open.add(stream)
      const pinging = setInterval(() => this.#ping(stream), pingEveryMs).unref()
      response.once('close', () => {
        clearInterval(pinging)
        this.#open.delete(stream)
      })
    }
    return stream
  }

  close(): void {
    this.#isClosed = true
    for (const stream of this.#open) stream.end()
  }

  #ping(stream: EventStream): void {
    if (!stream.isBehind)
      stream.send(`:\n${eventText({ event: 'ping', data: this.#options.pingData?.() ?? {} })}`)
  }
}
