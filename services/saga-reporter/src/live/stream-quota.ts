import { rateLimited, unavailable } from '@switchyard/domain'
import type { Metrics } from '@switchyard/service-kit/observability'
import { Gauge } from 'prom-client'

export type StreamKind = 'sse' | 'grpc'

/** The token and the address of a client that follows the log. */
export interface StreamOwner {
  /** Id of the token. */
  token: number
  address: string
}

/** How many streams may be open at once. */
export interface StreamLimits {
  total: number
  perToken: number
  perAddress: number
}

/** How long a client over its limit is asked to wait: streams end often. */
const retryAfterMs = 5000

/** Limits how many streams are open in this process, counts them, and ends them all at once. */
export class StreamQuota {
  readonly #limits: StreamLimits
  readonly #gauge: Gauge<'kind'>
  readonly #open = new Set<AbortController>()
  readonly #ofToken = new Counts<number>()
  readonly #ofAddress = new Counts<string>()
  #closed = false

  constructor(limits: StreamLimits, { registry }: Metrics) {
    this.#limits = limits
    this.#gauge = new Gauge({
      name: 'saga_watch_streams',
      help: 'Clients that follow the log of sagas.',
      labelNames: ['kind'],
      registers: [registry],
    })
    for (const kind of ['sse', 'grpc'] as const) this.#gauge.set({ kind }, 0)
  }

  /**
   * Opens a stream that ends with the signal of its client, or earlier: at once while this process stops, because a browser
   * connects again after the end of a stream, and not after a refusal.
   *
   * @throws DomainError unavailable when this process has its maximum of streams; rate-limited when the token or the
   * address has its maximum
   */
  open(
    kind: StreamKind,
    owner: StreamOwner,
    client: AbortSignal,
  ): { ending: AbortController; close: () => void } {
    this.#requireRoom(owner)
    const ending = new AbortController()
    const onClientGone = () => ending.abort(client.reason)
    client.addEventListener('abort', onClientGone)
    if (client.aborted) onClientGone()
    if (this.#closed) ending.abort()
    this.#open.add(ending)
    this.#ofToken.add(owner.token, 1)
    this.#ofAddress.add(owner.address, 1)
    this.#gauge.inc({ kind })
    const close = () => {
      client.removeEventListener('abort', onClientGone)
      if (!this.#open.delete(ending)) return
      this.#ofToken.add(owner.token, -1)
      this.#ofAddress.add(owner.address, -1)
      this.#gauge.dec({ kind })
    }
    return { ending, close }
  }

  #requireRoom({ token, address }: StreamOwner): void {
    const { total, perToken, perAddress } = this.#limits
    if (this.#open.size >= total) throw unavailable('too many streams')
    if (this.#ofToken.of(token) >= perToken)
      throw rateLimited(`this token has ${perToken} streams open, which is the limit`, retryAfterMs)
    if (this.#ofAddress.of(address) >= perAddress)
      throw rateLimited(`this address has ${perAddress} streams open, which is the limit`, retryAfterMs)
  }

  /** Ends every stream, also those that begin later. */
  close(): void {
    this.#closed = true
    for (const ending of this.#open) ending.abort()
  }
}

/** Counts by key. A key whose count is 0 takes no memory. */
class Counts<Key> {
  readonly #counts = new Map<Key, number>()

  of(key: Key): number {
    return this.#counts.get(key) ?? 0
  }

  add(key: Key, change: number): void {
    const count = this.of(key) + change
    if (count === 0) this.#counts.delete(key)
    else this.#counts.set(key, count)
  }
}
