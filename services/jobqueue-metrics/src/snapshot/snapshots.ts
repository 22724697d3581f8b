import { unavailable } from '@switchyard/domain'
import type { JobSource, SourceSnapshot } from '../sources/job-source.js'

export interface SnapshotsOptions {
  source: JobSource
  /** How long a snapshot serves further requests. */
  cacheMs: number
  /** How long a request waits for the source. */
  deadlineMs: number
}

/** @throws DomainError unavailable, naming the source */
export type ReadSnapshot = () => Promise<SourceSnapshot>

/**
 * One snapshot feeds every endpoint, so that their figures agree. Requests that come together share one read of
 * the source; a failed read is not kept, and old figures are never shown in its place.
 */
export function createSnapshots({ source, cacheMs, deadlineMs }: SnapshotsOptions): ReadSnapshot {
  let kept: { snapshot: SourceSnapshot; untilMs: number } | null = null
  let reading: Promise<SourceSnapshot> | null = null

  async function read(): Promise<SourceSnapshot> {
    try {
      const snapshot = await within(deadlineMs, source.read())
      kept = { snapshot, untilMs: performance.now() + cacheMs }
      return snapshot
    } catch (error) {
      throw unavailable(`the job queue source ${source.name} does not answer`, { cause: error })
    } finally {
      reading = null
    }
  }

  return async () => {
    if (kept && performance.now() < kept.untilMs) return kept.snapshot
    reading ??= read()
    return reading
  }
}

async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
  })
  try {
    return await Promise.race([work, timeout])
  } finally {
    clearTimeout(timer)
  }
}
