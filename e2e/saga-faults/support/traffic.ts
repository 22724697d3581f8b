import { setTimeout as sleep } from 'node:timers/promises'
import {
  createSagaClient,
  type ReportResult,
  type SagaClient,
} from '../../../packages/saga-client/src/index.js'
import { waitFor } from '../../support/wait-for.js'
import { type Step, traceOf } from './traces.js'

/** What was reported, and what came of it. */
export interface Reported {
  /** Of each event, by its {@link Step.key}. */
  results: Map<string, ReportResult>
  /** Status and outcome that each saga must have by now. */
  finals: Map<string, string>
}

export interface TrafficOptions {
  /** Of the reporters; the events of one saga go to all of them in turn. */
  addresses: string[]
  /** Sagas under way at once. */
  callers?: number
}

/** Services that report saga after saga, and whose clients repeat what was not acknowledged. */
export class Traffic implements Reported {
  readonly results = new Map<string, ReportResult>()
  readonly finals = new Map<string, string>()
  readonly #clients: SagaClient[]
  readonly #callers: Promise<void>[]
  #stopped = false

  constructor({ addresses, callers = 24 }: TrafficOptions) {
    this.#clients = addresses.map((address) =>
      createSagaClient({
        address,
        serviceName: 'booking',
        deadlineMs: 1500,
        retryDelayMs: 20,
        retryDelayMsMax: 200,
      }),
    )
    this.#callers = Array.from({ length: callers }, (_, caller) => this.#call(caller))
  }

  /** Waits until so many more events were acknowledged. */
  async progress(events = 300): Promise<void> {
    const before = this.stored
    await waitFor(`${events} more events to be acknowledged`, () => this.stored >= before + events)
  }

  /** Events that were acknowledged so far. */
  get stored(): number {
    return this.#sum('stored')
  }

  /** Waits until so many more attempts had no success. */
  async trouble(attempts = 20): Promise<void> {
    const failed = () => this.#sum('repeated')
    const before = failed()
    await waitFor(`${attempts} attempts to fail`, () => failed() >= before + attempts)
  }

  /** What was refused or given up so far. */
  notStored(): [string, ReportResult][] {
    return [...this.results].filter(([, { outcome }]) => outcome !== 'stored')
  }

  /** Lets sagas under way come to their end. */
  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#callers)
    await Promise.all(this.#clients.map((client) => client.close(0)))
  }

  /** Gives up what is under way. */
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
      // One that is refused at once must not keep the others from the processor.
      await sleep(1)
    }
  }

  async #report({ method, event, key }: Step, index: number): Promise<void> {
    const client = this.#clients[index % this.#clients.length]
    const report = client?.[method] as (event: object) => Promise<ReportResult>
    this.results.set(key, await report(event))
  }
}
