import { unavailable } from '@switchyard/domain'
import type { Metrics } from '@switchyard/service-kit/observability'
import { Gauge } from 'prom-client'

export type StreamKind = 'sse' | 'grpc'

/** The streams of this process: counted, bounded, and ended together. */
export class OpenStreams {
  readonly #streamsMax: number
  readonly #gauge: Gauge<'kind'>
  readonly #open = new Set<AbortController>()
  #closed = false

  constructor(streamsMax: number, { registry }: Metrics) {
    this.#streamsMax = streamsMax
    this.#gauge = new Gauge({
      name: 'saga_watch_streams',
      help: 'Clients that follow the log of sagas.',
      labelNames: ['kind'],
      registers: [registry],
    })
    for (const kind of ['sse', 'grpc'] as const) this.#gauge.set({ kind }, 0)
  }

  /**
   * A stream that ends with the signal of its client, or earlier.
   *
   * @throws DomainError unavailable when there are as many as this process takes
   */
  open(kind: StreamKind, client: AbortSignal): { ending: AbortController; close: () => void } {
    if (this.#closed || this.#open.size >= this.#streamsMax) throw unavailable('too many streams')
    const ending = new AbortController()
    const onClientGone = () => ending.abort(client.reason)
    client.addEventListener('abort', onClientGone)
    if (client.aborted) onClientGone()
    this.#open.add(ending)
    this.#gauge.inc({ kind })
    const close = () => {
      client.removeEventListener('abort', onClientGone)
      if (this.#open.delete(ending)) this.#gauge.dec({ kind })
    }
    return { ending, close }
  }

  /** Ends every stream and takes no more. */
  close(): void {
    this.#closed = true
    for (const ending of this.#open) ending.abort()
  }
}
