import type { ServerResponse } from 'node:http'
import type { BroadcastMessage } from '@switchyard/db'
import type { Clock } from '@switchyard/domain'
import { type BroadcastChange, matchesTargetPath } from '@switchyard/domain/broadcast'
import { type EventStream, EventStreams, eventText } from '@switchyard/service-kit/http'
import type { Metrics } from '@switchyard/service-kit/observability'
import { Gauge } from 'prom-client'
import { presentBanner } from '../shapes/broadcast-message.js'
import type { MessageBoard } from './message-board.js'

const isVisibleOn =
  (path: string | undefined) =>
  (message?: BroadcastMessage): boolean =>
    message !== undefined && (path === undefined || matchesTargetPath(message.targetPath, path))

const keptMs = 1000

/**
 * Lists the messages that are on, of the page with a path or of all pages. The answer is equal for everybody,
 * so caches may keep it for `keptMs`: a second, unless a message appears or disappears within that second.
 */
export async function listActiveMessages(
  { board, clock }: { board: MessageBoard; clock: Clock },
  path: string | undefined,
): Promise<{ messages: BroadcastMessage[]; keptMs: number }> {
  const { messages, nextBoundary } = await board.active()
  const isSteady = nextBoundary === undefined || nextBoundary.getTime() - clock().getTime() > keptMs
  return { messages: messages.filter(isVisibleOn(path)), keptMs: isSteady ? keptMs : 0 }
}

interface MessageStreamsDependencies {
  board: MessageBoard
  metrics: Metrics
}

/** Limits of a client. A disconnected client receives the whole state when it connects again. */
const limits = { unreadBytesMax: 64 * 1024, stallMs: 30_000 }
const retryMs = { least: 1000, most: 5000 }

/**
 * Server-sent events of the active messages: first all of them (`snapshot`), then `start`, `change` and `end`
 * when they happen. A client that lost its connection only has to connect again.
 */
export class MessageStreams {
  readonly #board: MessageBoard
  readonly #streams = new EventStreams({ ...limits, retryMs, pingData: () => ({ now: new Date() }) })

  constructor({ board, metrics }: MessageStreamsDependencies) {
    this.#board = board
    const count = () => this.#streams.size
    new Gauge({
      name: 'broadcast_stream_clients',
      help: 'Clients that follow the stream of broadcast messages.',
      registers: [metrics.registry],
      collect() {
        this.set(count())
      },
    })
  }

  /**
   * Serves a client until it disconnects or this process stops.
   *
   * @param path path of the client's page, for which it receives messages. Undefined: all messages
   */
  async open(response: ServerResponse, path: string | undefined): Promise<void> {
    const isVisible = isVisibleOn(path)
    let stream: EventStream | undefined
    const unwatch = await this.#board.watch({
      state: (messages) => {
        const snapshot = { messages: messages.filter(isVisible).map(presentBanner), now: new Date() }
        stream = this.#streams.open(response, eventText({ event: 'snapshot', data: snapshot }))
      },
      changes(changes) {
        const text = changes.map((change) => textOf(change, isVisible)).join('')
        if (text !== '') stream?.send(text)
      },
    })
    // The client may have disconnected while the board was read.
    if (response.closed) unwatch()
    else response.once('close', unwatch)
  }

  /** Ends every stream cleanly, so that each client connects to another process. */
  close(): void {
    this.#streams.close()
  }
}

/**
 * Returns the event of a change for one client. A message that moves to the client's page starts, one that
 * moves away ends.
 */
function textOf(
  { before, after }: BroadcastChange<BroadcastMessage>,
  isVisible: (message?: BroadcastMessage) => boolean,
): string {
  const wasVisible = isVisible(before)
  if (after && isVisible(after))
    return eventText({ event: wasVisible ? 'change' : 'start', data: presentBanner(after) })
  return wasVisible ? eventText({ event: 'end', data: { id: before?.id } }) : ''
}
