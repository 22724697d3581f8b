import { unavailable } from '@switchyard/domain'
import type { Metrics } from '@switchyard/service-kit/observability'
import { Slots } from '@switchyard/service-kit/slots'
import { Gauge } from 'prom-client'

export type StreamKind = 'sse' | 'grpc'

/** The token and the address of a client that follows the log. */
export interface StreamOwner {
  /** What counts as one token. */
  token: string
  address: string
}

export interface StreamLimits {
  total: number
  perToken: number
  perAddress: number
}

/** How long a client over its limit is asked to wait: streams end often. */
const retryAfterMs = 5000

const tooMany = 'too many streams'

/** Limits how many streams are open in this process, counts them, and ends them all at once. */
export class StreamQuota {
  readonly #slots: Slots
  readonly #total: number
  readonly #gauge: Gauge<'kind'>
  readonly #open = new Set<AbortController>()
  #closed = false

  constructor(limits: StreamLimits, { registry }: Metrics) {
    const { total, perToken, perAddress } = limits
    this.#total = total
    this.#slots = new Slots(
      { total, perSender: perToken, perGroup: perAddress },
      {
        sender: `this token has ${perToken} streams open, which is the limit`,
        group: `this address has ${perAddress} streams open, which is the limit`,
        everybody: tooMany,
        retryAfterMs,
      },
    )
    this.#gauge = new Gauge({
      name: 'saga_watch_streams',
      help: 'Clients that follow the log of sagas.',
      labelNames: ['kind'],
      registers: [registry],
    })
    for (const kind of ['sse', 'grpc'] as const) this.#gauge.set({ kind }, 0)
  }

  /**
   * Opens a stream that ends with the signal of its client, or earlier: at once while this process stops,
   * because a browser connects again after the end of a stream, and not after a refusal.
   *
   * @throws DomainError unavailable when this process has its maximum of streams; rate-limited when the token
   *   or the address has its maximum
   */
  open(
    kind: StreamKind,
    owner: StreamOwner,
    client: AbortSignal,
  ): { ending: AbortController; close: () => void } {
    // Another process may have room for a client that has its share of this one.
    if (this.#slots.count().held >= this.#total) throw unavailable(tooMany, { retryAfterMs })
    const giveBack = this.#slots.takeAtOnce({ sender: owner.token, group: owner.address })
    const ending = new AbortController()
    const onClientGone = () => ending.abort(client.reason)
    client.addEventListener('abort', onClientGone)
    if (client.aborted) onClientGone()
    if (this.#closed) ending.abort()
    this.#open.add(ending)
    this.#gauge.inc({ kind })
    const close = () => {
      client.removeEventListener('abort', onClientGone)
      if (!this.#open.delete(ending)) return
      giveBack()
      this.#gauge.dec({ kind })
    }
    return { ending, close }
  }

  /** Ends every stream, also those that begin later. */
  close(): void {
    this.#closed = true
    for (const ending of this.#open) ending.abort()
  }
}
