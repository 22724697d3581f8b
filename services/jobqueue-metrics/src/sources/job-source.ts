/** A job system whose figures can be read. Reading changes nothing in it. */
export interface JobSource {
  /** Shown to clients when the source does not answer. */
  name: string
  /** Everything at one moment. Rejects when any part of it cannot be read. */
  read(): Promise<SourceSnapshot>
}

export interface SourceSnapshot {
  queues: QueueFigures[]
  processes: WorkerProcess[]
  jobs: JobTotals
}

export interface QueueFigures {
  name: string
  /** Jobs that could run now. */
  backlog: number
  /** Age of the oldest job that could run now, whole seconds; 0 without one. */
  latencySeconds: number
}

export interface WorkerProcess {
  identity: string
  hostname: string
  pid: number
  tag: string
  startedAt: Date
  queues: string[]
  labels: string[]
  /** Jobs it may run at once. */
  concurrency: number
  /** Jobs it runs, as of its last beat. */
  busy: number
}

export interface JobTotals {
  /** Attempts ever made, failed ones included. */
  processed: number
  failed: number
  /** Jobs for later. */
  scheduled: number
  /** Jobs that wait for another attempt. */
  retry: number
  /** Jobs whose attempts are used up. */
  dead: number
}
