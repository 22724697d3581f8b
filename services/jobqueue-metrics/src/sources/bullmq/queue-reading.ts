import { latencySeconds, numberOf } from '../age.js'
import type { QueueFigures } from '../job-source.js'
import { dueMs, type JobTimes, runnableSinceMs } from './latency.js'

/** What Redis says about one queue at one moment. */
export interface QueueReading {
  waiting: number
  /** A list of its own up to version 5; left-overs of it later. */
  pausedJobs: number
  prioritized: number
  overdue: number
  delayed: number
  active: number
  /** Kept, not ever. */
  failed: number
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

/** Jobs put at the front of a queue hide older ones behind them, so more than one is looked at. */
export const tailLength = 5

/**
 * The backlog is what could run now: waiting, paused, prioritized, and delayed jobs that are overdue, which only a
 * running worker would move.
 */
export function queueOf(name: string, reading: QueueReading, nowMs: number): BullmqQueue {
  const { waiting, pausedJobs, prioritized, overdue, delayed, overdueScore } = reading
  const overdueSince = overdueScore === null ? null : dueMs(overdueScore)
  return {
    name,
    backlog: waiting + pausedJobs + prioritized + overdue,
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
