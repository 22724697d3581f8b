/** A job system whose figures can be read. Reading changes nothing in it. */
export interface JobSource {
  /** Shown to clients; narrows their questions. */
  name: string
  /** Everything at one moment. Rejects when any part of it cannot be read, and when the source stops answering. */
  read(): Promise<SourceSnapshot>
  close(): void
}

export interface SourceSnapshot {
  /** Sorted by name. */
  queues: QueueFigures[]
  /** Sorted by identity. */
  processes: WorkerProcess[]
  jobs: JobTotals
}

export interface QueueFigures {
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
  /** Time of its last beat, epoch ms. Null for a process that does not beat. */
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
