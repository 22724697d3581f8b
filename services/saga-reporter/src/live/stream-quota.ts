import { unavailable } from '@switchyard/domain'
import type { Metrics } from '@switchyard/service-kit/observability'
import { Slots } from '@switchyard/service-kit/slots'
import { Gauge } from 'prom-client'

export type StreamKind = 'sse' | 'grpc'

/** The token and the address of a client that follows the log. */
export interface StreamOwner {
  /** Identity of the token. */
  token: string
  address: string
}

export interface StreamLimits {
  total: number
  perToken: number
  perAddress: number
}

/** Delay that a client over its limit receives; it is short because streams end often. */
const retryAfterMs = 5000

const tooMany = 'too many streams'

/** The limits of open streams in this process. It counts the streams, and can end all of them at once. */
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
   * Opens a stream that ends with the signal of its client, or earlier. During shutdown it ends at once,
   * because a browser reconnects after the end of a stream, but not after a refusal.
   *
   * @throws DomainError unavailable when this process has its maximum of streams; rate-limited when the token
   *   or the address has its maximum
   */
  open(
    kind: StreamKind,
    owner: StreamOwner,
    client: AbortSignal,
  ): { ending: AbortController; close: () => void } {
    // Another process may have room for a client that has used its share of this one.
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

  /** Ends every current and future stream. */
  close(): void {
    this.#closed = true
    for (const ending of this.#open) ending.abort()
  }
}
