import { setTimeout as delay } from 'node:timers/promises'
import {
  createSagaClient,
  type ReportResult,
  type SagaClient,
} from '../../../packages/saga-client/src/index.js'
import { type Step, traceOf } from './traces.js'

/** The results of the reported events, and the expected state of each saga. */
export interface Reported {
  /** The result of each event, by its {@link Step.key}. */
  results: Map<string, ReportResult>
  /** The status and outcome that each saga must have now. */
  finals: Map<string, string>
}

export interface TrafficOptions {
  /**
   * Addresses of the reporters. The events of one saga go to all of them in turn: single calls to the first,
   * batches to the others.
   */
  addresses: string[]
  /** Number of parallel sagas. */
  callers: number
  /** Pause between two sagas of a caller. */
  pauseMs: number
}

/** Services that report saga after saga, and whose clients repeat unacknowledged events. */
export class Traffic implements Reported {
  readonly results = new Map<string, ReportResult>()
  readonly finals = new Map<string, string>()
  readonly #clients: SagaClient[]
  readonly #callers: Promise<void>[]
  readonly #pauseMs: number
  #stopped = false

  constructor({ addresses, callers, pauseMs }: TrafficOptions) {
    this.#pauseMs = pauseMs
    this.#clients = addresses.map((address, index) =>
      createSagaClient({
        address,
        serviceName: 'booking',
        ...(index === 0 ? { batchEventsMax: 1 } : {}),
        deadlineMs: 1500,
        retryDelayMs: 20,
        retryDelayMsMax: 200,
      }),
    )
    this.#callers = Array.from({ length: callers }, (_, caller) => this.#call(caller))
  }

  /** Number of acknowledged events so far. */
  get stored(): number {
    return this.#sum('stored')
  }

  /** Number of failed attempts so far. */
  get failed(): number {
    return this.#sum('repeated')
  }

  /** Waits until the current sagas have ended. */
  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#callers)
    await Promise.all(this.#clients.map((client) => client.close(0)))
  }

  /** Abandons the current sagas. */
  async abandon(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#clients.map((client) => client.close(0)))
    await Promise.all(this.#callers)
  }

  #sum(figure: 'stored' | 'repeated'): number {
    return this.#clients.reduce((sum, client) => sum + client.stats()[figure], 0)
  }

  async #call(caller: number): Promise<void> {
    for (let number = 0; !this.#stopped; number += 1) {
      const sagaId = `saga-${caller}-${number}`
      const { steps, final } = traceOf(sagaId, caller + number)
      await Promise.all(steps.map((step, index) => this.#report(step, index)))
      this.finals.set(sagaId, final)
      await delay(this.#pauseMs)
    }
  }

  async #report({ method, event, key }: Step, index: number): Promise<void> {
    const client = this.#clients[index % this.#clients.length]
    const report = client?.[method] as (event: object) => Promise<ReportResult>
    this.results.set(key, await report(event))
  }
}
