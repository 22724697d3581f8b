import type { ServerResponse } from 'node:http'
import type { Call } from './endpoint.js'

const headers = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // A proxy that compresses the stream would hold events back.
  'Cache-Control': 'no-cache, no-transform',
  // nginx would collect the whole answer before it sends any of it.
  'X-Accel-Buffering': 'no',
}

const pingEveryMs = 15_000

export interface ServerSentEvent {
  /** Where a client that reconnects continues; it sends this back as `Last-Event-ID`. */
  id?: number
  /** Unset: `message`. */
  event?: string
  data: unknown
}

/** An event as it is written to a stream. */
export const eventText = ({ id, event, data }: ServerSentEvent): string =>
  `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`

/**
 * Answers a HEAD request for a stream with the headers of the stream: Express gives it to the handler of GET,
 * and a stream would never end.
 *
 * @returns whether it was one
 */
export function answerHead({ raw: { request, response } }: Pick<Call, 'raw'>): boolean {
  if (request.method !== 'HEAD') return false
  response.writeHead(200, headers).end()
  return true
}

export interface EventStreamOptions {
  /**
   * A client whose stream has ended connects again after a random time in this span, so that not all come at
   * the same moment.
   */
  retryMs: { least: number; most: number }
  /** A client that leaves something unread for this time is disconnected. */
  stallMs: number
  /** A client that leaves this much unread is disconnected. Unset: its sender waits until it has read. */
  unreadBytesMax?: number
}

/** The answer to one client: server-sent events. */
export class EventStream {
  readonly #response: ServerResponse
  readonly #options: EventStreamOptions
  #stall: NodeJS.Timeout | undefined

  /** Begins the answer with its first event, and with the time after which a client connects again. */
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

  /** Whether the client has not yet read what it was sent. */
  get isBehind(): boolean {
    return this.#response.writableNeedDrain
  }

  /**
   * @param text of whole events
   * @returns whether the client takes more; false also when it is gone
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
   * Waits until the client has read what it was sent.
   *
   * @returns false when it is gone, or its stream has ended
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

  /** Ends the answer properly, so that the client connects again. One that does not read is disconnected. */
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
  /** What the regular event `ping` says. Unset: `{}`. */
  pingData?: () => unknown
}

/**
 * The open streams of a process. Each hears an event `ping` every 15 seconds, which keeps proxies from
 * closing a quiet connection, fails when the client is gone, and tells the client that the stream still
 * works: browsers show no comments to a page.
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
   * Begins a stream with its first event. Once the process stops, that is its only one: a browser connects
   * again after the end of a stream, and not after a refusal.
   */
  open(response: ServerResponse, first: string): EventStream {
    const stream = new EventStream(response, this.#options, first)
    if (this.#isClosed) stream.end()
    // The event `close` of a client that has gone came before.
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
