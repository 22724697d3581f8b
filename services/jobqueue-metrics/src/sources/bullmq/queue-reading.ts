import { latencySeconds, numberOf } from '../age.js'
import type { QueueFigures } from '../job-source.js'
import { dueMs, type JobTimes, runnableSinceMs } from './latency.js'

/** Keys of a queue that hold jobs. Most queues have few of them at a time. */
export const jobKeys = ['wait', 'active', 'failed', 'delayed', 'prioritized', 'paused'] as const

export type JobKey = (typeof jobKeys)[number]

/**
 * What Redis says about one queue at one moment: how many jobs each of its keys holds. Failed ones are those kept, not
 * ever; `paused` is a list of its own up to version 5, and left-overs of it later.
 */
export interface QueueReading extends Record<JobKey, number> {
  /** Delayed jobs that are due. */
  overdue: number
  completed: number
  isPaused: boolean
  /** Ever, where the workers keep metrics. */
  metricsCompleted: number | null
  metricsFailed: number | null
  /** Of the first overdue delayed job. */
  overdueScore: number | null
  /** Jobs that can be the oldest. */
  candidates: JobTimes[]
}

/** What is known of a queue that has no keys. */
export const emptyReading = (): QueueReading => ({
  wait: 0,
  active: 0,
  failed: 0,
  delayed: 0,
  prioritized: 0,
  paused: 0,
  overdue: 0,
  completed: 0,
  isPaused: false,
  metricsCompleted: null,
  metricsFailed: null,
  overdueScore: null,
  candidates: [],
})

export const existingKeys = (reading: QueueReading): JobKey[] => jobKeys.filter((key) => reading[key] > 0)

/** A queue's figures, and its part in the totals. */
export interface BullmqQueue extends QueueFigures {
  scheduled: number
  dead: number
  ended: EndedJobs
}

/** Jobs that came to an end, each counted once: what is known of a queue without a heartbeat. */
interface EndedJobs {
  processed: number
  failed: number
  /** Only those still kept are counted. */
  approximate: boolean
}

/**
 * The backlog is what could run now: waiting, paused, prioritized, and delayed jobs that are overdue, which only a
 * running worker would move.
 */
export function queueOf(name: string, reading: QueueReading, nowMs: number): BullmqQueue {
  const { wait, paused, prioritized, overdue, delayed, overdueScore } = reading
  const overdueSince = overdueScore === null ? null : dueMs(overdueScore)
  return {
    name,
    backlog: wait + paused + prioritized + overdue,
    latencySeconds: latencySeconds([overdueSince, ...reading.candidates.map(runnableSinceMs)], nowMs),
    paused: reading.isPaused,
    busy: reading.active,
    processed: null,
    failed: null,
    scheduled: delayed - overdue,
    dead: reading.failed,
    ended: endedOf(reading),
  }
}

function endedOf({ metricsCompleted, metricsFailed, completed, failed }: QueueReading): EndedJobs {
  const approximate = metricsCompleted === null && metricsFailed === null && completed + failed > 0
  const failedEver = metricsFailed ?? (metricsCompleted === null ? failed : 0)
  const completedEver = metricsCompleted ?? (metricsFailed === null ? completed : 0)
  return { processed: completedEver + failedEver, failed: failedEver, approximate }
}

export const countOf = (answer: unknown): number => numberOf(answer) ?? 0
