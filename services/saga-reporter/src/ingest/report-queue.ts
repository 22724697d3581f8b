import type { NewSagaEvent, RecordedSagaEvent } from '@switchyard/db'

/** An event that waits to be written, and whoever waits for its answer. */
export interface QueuedReport {
  received: NewSagaEvent
  /** What it holds in memory, about. */
  bytes: number
  /** True once nobody waits for the answer any more: cancelled, or past its deadline. */
  givenUp: () => boolean
  answer: (recorded: RecordedSagaEvent) => void
  fail: (error: unknown) => void
}

export interface QueueLimits {
  eventsMax: number
  bytesMax: number
}

/** First in, first out, bounded by events and by bytes. */
export class ReportQueue {
  readonly #limits: QueueLimits
  #reports: QueuedReport[] = []
  /** Those before it are taken. */
  #head = 0
  #bytes = 0

  constructor(limits: QueueLimits) {
    this.#limits = limits
  }

  get length(): number {
    return this.#reports.length - this.#head
  }

  /** @returns false when it is full */
  add(report: QueuedReport): boolean {
    const { eventsMax, bytesMax } = this.#limits
    if (this.length >= eventsMax) return false
    // One event larger than the whole queue still gets through an empty one.
    if (this.#bytes + report.bytes > bytesMax && this.length > 0) return false
    this.#bytes += report.bytes
    this.#reports.push(report)
    return true
  }

  /** The oldest ones, at most so many events and, but for a first one that is larger, so many bytes. */
  take({ eventsMax, bytesMax }: QueueLimits): QueuedReport[] {
    const reports = this.#reports
    const last = Math.min(reports.length, this.#head + eventsMax)
    let end = this.#head
    let bytes = 0
    while (end < last) {
      const next = bytes + (reports[end] as QueuedReport).bytes
      if (next > bytesMax && end > this.#head) break
      bytes = next
      end += 1
    }
    const taken = reports.slice(this.#head, end)
    this.#bytes -= bytes
    if (end === reports.length) {
      this.#reports = []
      this.#head = 0
    } else {
      // Taken reports go with the array once most of it is behind the head: no shift of the rest for every batch.
      this.#head = end
      if (end > reports.length / 2) {
        this.#reports = reports.slice(end)
        this.#head = 0
      }
    }
    return taken
  }
}
