import pTimeout from 'p-timeout'

/** A job system whose metrics can be read. Reading changes nothing in it. */
export interface JobSource {
  /** Name for clients, which filter by it. */
  name: string
  /**
   * Reads all metrics at one moment. Rejects when any part of them cannot be read, and when the source stops
   * answering.
   */
  read(): Promise<SourceSnapshot>
  close(): void
}

export interface SourceSnapshot {
  /** Sorted by name. */
  queues: QueueMetrics[]
  /** Sorted by identity. */
  processes: WorkerProcess[]
  jobs: JobTotals
}

/**
 * A source answers, but the first search for its queues has not ended. Its known queues would look like all
 * of them.
 */
export class SearchNotEnded extends Error {}

/**
 * Returns the running jobs of a source. Processes without a heartbeat share the running jobs of their queues,
 * so their jobs may count twice.
 */
export function runningJobs({ queues, processes }: SourceSnapshot): number {
  const known = queues.flatMap(({ busy }) => busy ?? [])
  const isOfQueues = known.length > 0 && known.length === queues.length
  return (isOfQueues ? known : processes.map(({ busy }) => busy)).reduce((sum, busy) => sum + busy, 0)
}

/**
 * Returns the age of the oldest job in whole seconds, truncated. Without jobs: 0. A producer's clock that is
 * ahead does not make the age negative.
 *
 * @param sinceMs times since which jobs have been runnable; nulls are skipped
 */
export function latencySeconds(sinceMs: readonly (number | null)[], nowMs: number): number {
  const known = sinceMs.filter((since) => since !== null)
  if (known.length === 0) return 0
  return Math.max(0, Math.trunc((nowMs - Math.min(...known)) / 1000))
}

export interface QueueMetrics {
  name: string
  /** Jobs that could run now. */
  backlog: number
  /** Age in whole seconds of the oldest job that could run now; 0 without one. */
  latencySeconds: number
  paused: boolean
  /** Running jobs. Null when the source does not show them. */
  busy: number | null
  /** Total of attempts at its jobs, including failed ones. Null when the source does not count them. */
  processed: number | null
  failed: number | null
}

export interface WorkerProcess {
  identity: string
  hostname: string
  /** 0 when the source does not show it. */
  pid: number
  tag: string
  startedAt: Date
  queues: string[]
  labels: string[]
  /** Most jobs that it runs at once. */
  concurrency: number
  /** Number of its running jobs at its last beat. */
  busy: number
  /** Whether it has stopped taking jobs. */
  quiet: boolean
  /** Time of its last beat by the clock of this process, in epoch ms. Null when it is unknown. */
  beatMs: number | null
  /** Resident memory. Null when the source does not show it. */
  rssKib: number | null
}

export interface JobTotals {
  /** Number of all attempts, including failed ones. */
  processed: number
  failed: number
  /** Jobs scheduled for later. */
  scheduled: number
  /** Jobs that wait for another attempt. */
  retry: number
  /** Jobs without attempts left. */
  dead: number
  /** Whether `processed` and `failed` count, for some queue, only the jobs that are still kept. */
  approximate: boolean
}

interface SharedSourceOptions {
  source: JobSource
  /** Time for which a snapshot serves further requests. */
  cacheMs: number
  /** Longest time that a request waits for the source. */
  deadlineMs: number
  /** Called after every read. A read that takes longer than `deadlineMs` counts as failed. */
  onRead?: (source: string, seconds: number, hasFailed: boolean) => void
}

/** The metrics of a source, and the start of their read (`performance.now()`). */
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
 * Shares the reads of a source. Parallel requests share one read, and later ones its result for `cacheMs`. A
 * failed read is not cached, and older metrics never replace it. A request gives up after `deadlineMs`, but
 * the read continues for later requests, because a second parallel read would make a slow source even slower.
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
