import type { JobSource, SourceSnapshot } from '../sources/job-source.js'

export interface KeptSourceOptions {
  source: JobSource
  /** How long a snapshot serves further requests. */
  cacheMs: number
  /** How long a request waits for the source. */
  deadlineMs: number
  /** Told of every read that is over. */
  onRead?: (source: string, seconds: number, failure: unknown) => void
}

/** What a source said, and when it was asked (`performance.now()`). */
export interface TakenSnapshot extends SourceSnapshot {
  takenMs: number
}

/** A source whose answers are shared. */
export interface KeptSource {
  name: string
  /** Rejects with the failure of the source. */
  read(): Promise<TakenSnapshot>
}

/**
 * Requests that come together share one read of the source, and those that come soon after its answer; a failed
 * read is not kept, and old figures are never shown in its place.
 */
export function keepSource({ source, cacheMs, deadlineMs, onRead }: KeptSourceOptions): KeptSource {
  let kept: { snapshot: TakenSnapshot; untilMs: number } | null = null
  let reading: Promise<TakenSnapshot> | null = null

  async function read(): Promise<TakenSnapshot> {
    const takenMs = performance.now()
    let failure: unknown
    try {
      const snapshot = { ...(await within(deadlineMs, source.read())), takenMs }
      kept = { snapshot, untilMs: performance.now() + cacheMs }
      return snapshot
    } catch (error) {
      failure = error
      throw error
    } finally {
      reading = null
      onRead?.(source.name, (performance.now() - takenMs) / 1000, failure)
    }
  }

  return {
    name: source.name,
    async read() {
      if (kept && performance.now() < kept.untilMs) return kept.snapshot
      reading ??= read()
      return await reading
    },
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
