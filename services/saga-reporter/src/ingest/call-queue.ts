import type { NewSagaEvent } from '@switchyard/db'
import type { EventOutcome } from './record-splitting.js'

/** The events of one call that wait to be written. */
export interface QueuedCall {
  events: readonly NewSagaEvent[]
  /** Approximate memory of the events. */
  bytes: number
  /** True once the caller no longer waits: the call was cancelled, or its deadline has passed. */
  givenUp: () => boolean
  /** Answers the call with one outcome for each event, in their order. */
  answer: (outcomes: readonly EventOutcome[]) => void
  fail: (error: unknown) => void
}

export interface QueueLimits {
  eventsMax: number
  bytesMax: number
}

/** First in, first out, bounded by events and by bytes. */
export class CallQueue {
  readonly #limits: QueueLimits
  readonly #calls: QueuedCall[] = []
  #events = 0
  #bytes = 0

  constructor(limits: QueueLimits) {
    this.#limits = limits
  }

  /** The number of events that wait. */
  get events(): number {
    return this.#events
  }

  /** @returns false when the call does not fit; an empty queue takes any call */
  add(call: QueuedCall): boolean {
    const events = this.#events + call.events.length
    const bytes = this.#bytes + call.bytes
    const fits = events <= this.#limits.eventsMax && bytes <= this.#limits.bytesMax
    if (!fits && this.#events > 0) return false
    this.#events = events
    this.#bytes = bytes
    this.#calls.push(call)
    return true
  }

  /** Takes the oldest calls, each with all of its events: at least one, and no more than the limits allow. */
  take({ eventsMax, bytesMax }: QueueLimits): QueuedCall[] {
    let events = 0
    let bytes = 0
    let count = 0
    for (const call of this.#calls) {
      const isOver = events + call.events.length > eventsMax || bytes + call.bytes > bytesMax
      if (isOver && count > 0) break
      events += call.events.length
      bytes += call.bytes
      count += 1
    }
    this.#events -= events
    this.#bytes -= bytes
    return this.#calls.splice(0, count)
  }
}
