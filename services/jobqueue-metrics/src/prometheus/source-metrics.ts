import { type JobTotals, type QueueMetrics, runningJobs, type TakenSnapshot } from '../sources/sources.js'

/** A metric of a source or of a queue; null when the source does not have it. */
export interface Metric<Of> {
  name: string
  help: string
  type: 'gauge' | 'counter'
  read: (of: Of) => number | null
}

const metric =
  <Of>(type: 'gauge' | 'counter') =>
  (name: string, help: string, read: Metric<Of>['read']): Metric<Of> => ({ name, help, type, read })

/** Returns the sum; null when any value is null, because the sum of the others would look complete. */
const sumOfKnown = (values: (number | null)[]) =>
  values.reduce((total, value) => (total === null || value === null ? null : total + value), 0)

const ofSource = { gauge: metric<TakenSnapshot>('gauge'), counter: metric<TakenSnapshot>('counter') }

/**
 * Leaves out an approximate total. The number of jobs that BullMQ still keeps can fall, and Prometheus would
 * mistake a falling counter for a restart.
 */
const onlyGrowing = ({ approximate }: JobTotals, total: number) => (approximate ? null : total)

/** Metrics with the label of the source. */
export const sourceMetrics: Metric<TakenSnapshot>[] = [
  ofSource.gauge(
    'jobqueue_snapshot_age_seconds',
    'Age of the snapshot that these metrics are from.',
    ({ takenMs }) => (performance.now() - takenMs) / 1000,
  ),
  ofSource.counter('jobqueue_processed_total', 'Attempts ever made, failed ones included.', ({ jobs }) =>
    onlyGrowing(jobs, jobs.processed),
  ),
  ofSource.counter('jobqueue_failed_total', 'Attempts that failed.', ({ jobs }) =>
    onlyGrowing(jobs, jobs.failed),
  ),
  ofSource.gauge('jobqueue_scheduled', 'Jobs scheduled for later.', ({ jobs }) => jobs.scheduled),
  ofSource.gauge('jobqueue_retry', 'Jobs that wait for another attempt.', ({ jobs }) => jobs.retry),
  ofSource.gauge(
    'jobqueue_dead',
    'Jobs whose attempts are used up, as far as they are kept.',
    ({ jobs }) => jobs.dead,
  ),
  ofSource.gauge('jobqueue_processes', 'Worker processes.', ({ processes }) => processes.length),
  ofSource.gauge('jobqueue_concurrency', 'Jobs that all processes may run at once.', ({ processes }) =>
    // 0 means that the source does not show the concurrency.
    sumOfKnown(processes.map(({ concurrency }) => concurrency || null)),
  ),
  ofSource.gauge('jobqueue_busy', 'Running jobs.', runningJobs),
  ofSource.gauge(
    'jobqueue_heartbeat_age_seconds_max',
    'Longest time since the last heartbeat of a process.',
    ({ processes }) => {
      const beats = processes.flatMap(({ beatMs }) => beatMs ?? [])
      return beats.length === 0 ? null : (Date.now() - beats.reduce((a, b) => Math.min(a, b))) / 1000
    },
  ),
  ofSource.gauge('jobqueue_resident_memory_bytes', 'Memory of all processes.', ({ processes }) =>
    sumOfKnown(processes.map(({ rssKib }) => (rssKib === null ? null : rssKib * 1024))),
  ),
]

/** A queue with the number of processes that serve it. */
export interface ServedQueue extends QueueMetrics {
  processes: number
}

const ofQueue = { gauge: metric<ServedQueue>('gauge'), counter: metric<ServedQueue>('counter') }

/** Metrics with the labels of the source and the queue. */
export const queueMetrics: Metric<ServedQueue>[] = [
  ofQueue.gauge('jobqueue_queue_backlog', 'Jobs that could run now.', ({ backlog }) => backlog),
  ofQueue.gauge(
    'jobqueue_queue_latency_seconds',
    'Age of the oldest job that could run now.',
    ({ latencySeconds }) => latencySeconds,
  ),
  ofQueue.gauge('jobqueue_queue_paused', '1 when the queue is paused, else 0.', ({ paused }) =>
    Number(paused),
  ),
  ofQueue.gauge('jobqueue_queue_busy', 'Running jobs, of sources that show them.', ({ busy }) => busy),
  ofQueue.gauge('jobqueue_queue_processes', 'Processes that serve the queue.', ({ processes }) => processes),
  ofQueue.counter(
    'jobqueue_queue_processed_total',
    'Attempts ever made at jobs of the queue, failed ones included, of sources that count them.',
    ({ processed }) => processed,
  ),
  ofQueue.counter(
    'jobqueue_queue_failed_total',
    'Attempts at jobs of the queue that failed, of sources that count them.',
    ({ failed }) => failed,
  ),
]

/** Returns the queues of a snapshot with the number of processes that serve each. */
export function servedQueues({ queues, processes }: TakenSnapshot): ServedQueue[] {
  const serving = new Map<string, number>()
  for (const name of processes.flatMap((process) => process.queues)) {
    serving.set(name, (serving.get(name) ?? 0) + 1)
  }
  return queues.map((queue) => ({ ...queue, processes: serving.get(queue.name) ?? 0 }))
}
