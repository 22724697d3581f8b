import pTimeout from 'p-timeout'

/** A job system whose metrics can be read. Reading changes nothing in it. */
export interface JobSource {
  /** Shown to clients; narrows their questions. */
  name: string
  /**
   * Everything at one moment. Rejects when any part of it cannot be read, and when the source stops
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
 * A source answers, but the first search for its queues has not ended: what is known of it would look like
 * everything.
 */
export class SearchNotEnded extends Error {}

/**
 * Running jobs of a source. Processes without a heartbeat share the running jobs of their queues, so that
 * theirs may count twice.
 */
export function runningJobs({ queues, processes }: SourceSnapshot): number {
  const known = queues.flatMap(({ busy }) => busy ?? [])
  const isOfQueues = known.length > 0 && known.length === queues.length
  return (isOfQueues ? known : processes.map(({ busy }) => busy)).reduce((sum, busy) => sum + busy, 0)
}

/**
 * Age of the oldest job in whole seconds, truncated. No job: 0. A producer's clock that is ahead makes no
 * negative age.
 *
 * @param sinceMs times since which jobs could run; nulls are skipped
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
  /** Age of the oldest job that could run now, whole seconds; 0 without one. */
  latencySeconds: number
  paused: boolean
  /** Running jobs. Null where the source does not show them. */
  busy: number | null
  /** Attempts ever made at its jobs, failed ones included. Null where the source does not count them. */
  processed: number | null
  failed: number | null
}

export interface WorkerProcess {
  identity: string
  hostname: string
  /** 0 where the source does not show it. */
  pid: number
  tag: string
  startedAt: Date
  queues: string[]
  labels: string[]
  /** Jobs it may run at once. */
  concurrency: number
  /** Jobs it runs, as of its last beat. */
  busy: number
  /** Takes no more jobs. */
  quiet: boolean
  /** Time of its last beat by the clock of this process, epoch ms. Null when it is not known. */
  beatMs: number | null
  /** Resident memory. Null where the source does not show it. */
  rssKib: number | null
}

export interface JobTotals {
  /** Attempts ever made, failed ones included. */
  processed: number
  failed: number
  /** Jobs scheduled for later. */
  scheduled: number
  /** Jobs that wait for another attempt. */
  retry: number
  /** Jobs whose attempts are used up. */
  dead: number
  /** Whether `processed` and `failed` have, of some queue, only the jobs that are still kept. */
  approximate: boolean
}

interface SharedSourceOptions {
  source: JobSource
  /** How long a snapshot serves further requests. */
  cacheMs: number
  /** How long a request waits for the source. */
  deadlineMs: number
  /** Called after every read. A read that takes longer than `deadlineMs` has failed. */
  onRead?: (source: string, seconds: number, hasFailed: boolean) => void
}

/** The metrics of a source, and when their read began (`performance.now()`). */
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
 * Requests that come at the same time share one read of the source, and later ones its result for `cacheMs`.
 * A failed read is not kept, and older metrics never stand in for it.
 *
 * A request gives up after `deadlineMs`, but the read goes on and serves later requests: a second read beside
 * it would make a slow source slower still.
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
