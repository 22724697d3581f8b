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

/** A source answers, but the first search for its queues has not ended: what is known of it would look like everything. */
export class SearchNotEnded extends Error {}

/** Running jobs of a source. Processes without a heartbeat share the running jobs of their queues, so that theirs may count twice. */
export function runningJobs({ queues, processes }: SourceSnapshot): number {
  const known = queues.flatMap(({ busy }) => busy ?? [])
  const isOfQueues = known.length > 0 && known.length === queues.length
  return (isOfQueues ? known : processes.map(({ busy }) => busy)).reduce((sum, busy) => sum + busy, 0)
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
