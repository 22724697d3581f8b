import type { BroadcastMessage } from '@switchyard/db'
import { type BroadcastChange, matchesTargetPath } from '@switchyard/domain/broadcast'
import { eventStreamHeaders } from '@switchyard/service-kit/http'
import type { Metrics } from '@switchyard/service-kit/observability'
import { Gauge } from 'prom-client'
import { presentBanner } from '../shapes/broadcast-message.js'
import type { MessageBoard } from './message-board.js'

/** An HTTP response that has not begun yet, as far as a stream needs it. */
export interface StreamResponse {
  writeHead(status: number, headers: Record<string, string>): unknown
  write(text: string): boolean
  end(): unknown
  destroy(): unknown
  once(event: 'close', listener: () => void): unknown
  readonly writableLength: number
  readonly destroyed: boolean
}

interface MessageStreamsOptions {
  board: MessageBoard
  metrics: Metrics
}

/** A client that leaves this much unread is disconnected. It gets the whole state when it connects again. */
const unreadBytesMax = 64 * 1024
const heartbeatMs = 15_000
/** Clients connect again within this span, not all at the same moment. */
const retryMs = { least: 1000, spread: 4000 }

/**
 * Server-sent events of the messages that are on: first all of them (`snapshot`), then `start`, `change` and `end` when
 * they happen. A client that lost its connection only has to connect again.
 */
export class MessageStreams {
  readonly #options: MessageStreamsOptions
  readonly #clients = new Set<StreamResponse>()
  readonly #gauge: Gauge
  readonly #heartbeat: NodeJS.Timeout
  #closed = false

  constructor(options: MessageStreamsOptions) {
    this.#options = options
    this.#gauge = new Gauge({
      name: 'broadcast_stream_clients',
      help: 'Clients that follow the stream of broadcast messages.',
      registers: [options.metrics.registry],
    })
    // It keeps proxies from closing a quiet connection, fails when the client is gone, and tells the client that the stream still works.
    this.#heartbeat = setInterval(() => {
      const ping = `:\n${frame('ping', { now: new Date() })}`
      for (const client of this.#clients) send(client, ping)
    }, heartbeatMs)
    this.#heartbeat.unref()
  }

  /**
   * Serves a client until it disconnects or this process stops. A stream that begins later ends after its first event, because a
   * browser connects again after the end of a stream, and not after a refusal.
   *
   * @param path path of the page that the client shows; it gets the messages for this page only. Undefined: all
   */
  async open(response: StreamResponse, path: string | undefined): Promise<void> {
    const stop = await this.#enrol(response, path)
    // The client may have disconnected while the board was read, or this process may have begun to stop.
    if (response.destroyed || this.#closed) stop()
    response.once('close', stop)
  }

  async #enrol(response: StreamResponse, path: string | undefined) {
    const isVisible = (message?: BroadcastMessage) =>
      message !== undefined && (path === undefined || matchesTargetPath(message.targetPath, path))
    const unwatch = await this.#options.board.watch({
      state(messages) {
        response.writeHead(200, eventStreamHeaders)
        send(response, firstFrame(messages.filter(isVisible)))
      },
      changes(changes) {
        const text = changes.map((change) => frameOf(change, isVisible)).join('')
        if (text !== '') send(response, text)
      },
    })
    // A heartbeat before the headers would begin an answer without them.
    this.#clients.add(response)
    this.#gauge.set(this.#clients.size)
    return () => {
      unwatch()
      this.#clients.delete(response)
      this.#gauge.set(this.#clients.size)
      response.end()
    }
  }

  /** Ends every stream properly, so that each client knows to come back elsewhere. */
  close(): void {
    this.#closed = true
    clearInterval(this.#heartbeat)
    for (const client of this.#clients) client.end()
  }
}

function send(response: StreamResponse, text: string): void {
  if (response.destroyed) return
  if (response.writableLength > unreadBytesMax) response.destroy()
  else response.write(text)
}

function firstFrame(messages: BroadcastMessage[]): string {
  const retry = Math.round(retryMs.least + Math.random() * retryMs.spread)
  return `retry: ${retry}\n${frame('snapshot', { messages: messages.map(presentBanner), now: new Date() })}`
}

/** The event of a change for one client. A message that moves to its page starts for it, one that moves away ends. */
function frameOf(
  { before, after }: BroadcastChange<BroadcastMessage>,
  isVisible: (message?: BroadcastMessage) => boolean,
): string {
  const wasVisible = isVisible(before)
  if (after && isVisible(after)) return frame(wasVisible ? 'change' : 'start', presentBanner(after))
  return wasVisible ? frame('end', { id: before?.id }) : ''
}

const frame = (event: string, data: unknown) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
