import pTimeout from 'p-timeout'
import type { JobSource, SourceSnapshot } from './job-source.js'

export interface SharedSourceOptions {
  source: JobSource
  /** How long a snapshot serves further requests. */
  cacheMs: number
  /** How long a request waits for the source. */
  deadlineMs: number
  /** Called after every read. A read that takes longer than `deadlineMs` has failed. */
  onRead?: (source: string, seconds: number, hasFailed: boolean) => void
}

/** The figures of a source, and when their read began (`performance.now()`). */
export interface TakenSnapshot extends SourceSnapshot {
  takenMs: number
}

/** A source whose reads are shared. */
export interface SharedSource {
  name: string
  /** Rejects with the failure of the source, or after `deadlineMs`. */
  read(): Promise<TakenSnapshot>
}

/**
 * Requests that come at the same time share one read of the source, and later ones its result for `cacheMs`. A failed
 * read is not kept, and older figures never stand in for it.
 *
 * A request gives up after `deadlineMs`, but the read goes on and serves later requests: a second read beside it would
 * make a slow source slower still.
 */
export function shareSource({ source, cacheMs, deadlineMs, onRead }: SharedSourceOptions): SharedSource {
  let kept: { snapshot: TakenSnapshot; untilMs: number } | null = null
  let reading: Promise<TakenSnapshot> | null = null

  async function read(): Promise<TakenSnapshot> {
    const takenMs = performance.now()
    let hasFailed = true
    try {
      const snapshot = { ...(await source.read()), takenMs }
      kept = { snapshot, untilMs: performance.now() + cacheMs }
      hasFailed = performance.now() - takenMs > deadlineMs
      return snapshot
    } finally {
      reading = null
      onRead?.(source.name, (performance.now() - takenMs) / 1000, hasFailed)
    }
  }

  return {
    name: source.name,
    async read() {
      if (kept && performance.now() < kept.untilMs) return kept.snapshot
      reading ??= read()
      return await pTimeout(reading, {
        milliseconds: deadlineMs,
        message: `no answer within ${deadlineMs} ms`,
      })
    },
  }
}
