import { changePointWithin, shareBetween, type Trial } from './change-point.js'
import {
  durationTimesMin,
  type Finding,
  isLongWait,
  isMuchMore,
  type SagaRun,
  type ServiceHistory,
} from './find-impact.js'
import { medianOf } from './statistics.js'

const minuteMs = 60_000
/**
 * Minutes of the newest sagas that decide whether a figure has recovered: the first of these times with
 * enough sagas counts.
 */
const recentMinutes = [15, 30, 60]

type Risen = Pick<Finding, 'measure' | 'fingerprint' | 'before' | 'after' | 'changePoint'>
type Known = Pick<ServiceHistory, 'runs' | 'queues'>

/**
 * Finds the time at which a figure that became worse recovered: the most likely single change of its share,
 * as for the beginning. Null: the figure has not recovered, or there are too few data.
 *
 * @param history sagas and samples of queues by time
 * @param from start of the known times, which may be later than the finding
 */
export function recoveryOf(
  finding: Risen,
  history: Known,
  { from, now, sagasMin }: { from: number; now: number; sagasMin: number },
): number | null {
  const known = Math.max(from, finding.changePoint)
  const trials = trialsOf(finding, history).filter(({ at }) => at >= known && at < now)
  const begin = recentMinutes
    .map((minutes) => now - minutes * minuteMs)
    .find((time) => time >= finding.changePoint && shareBetween(trials, time, now).of >= sagasMin)
  if (begin === undefined || isWorse(finding, history, begin, now)) return null
  const relieved = trials.map(({ at, hits, of }) => ({ at, hits: of - hits, of }))
  return changePointWithin(relieved, known, now) ?? begin
}

/** Returns durations or latencies; null for measures that are shares. */
function valuesOf({ measure }: Risen, { runs, queues }: Known): { at: number; value: number }[] | null {
  if (measure === 'duration')
    return runs.flatMap(({ at, seconds, failed }) =>
      seconds === null || failed ? [] : [{ at, value: seconds }],
    )
  if (measure === 'queue_latency')
    return queues.flatMap(({ at, latencySeconds }) =>
      latencySeconds === null ? [] : [{ at, value: latencySeconds }],
    )
  return null
}

function trialsOf(finding: Risen, history: Known): Trial[] {
  const { measure, before, after, fingerprint } = finding
  const values = valuesOf(finding, history)
  if (values) {
    const limit = Math.sqrt((before ?? after) * after)
    return values.map(({ at, value }) => ({ at, hits: value > limit ? 1 : 0, of: 1 }))
  }
  if (measure === 'failed_jobs')
    return history.queues.map(({ at, jobs, failed }) => ({ at, hits: failed, of: jobs }))
  const isHit = (run: SagaRun) => {
    if (measure === 'new_failure') return run.fingerprint === fingerprint
    return measure === 'stuck' ? run.stuck : run.failed
  }
  return history.runs.map((run) => ({ at: run.at, hits: isHit(run) ? 1 : 0, of: 1 }))
}

/** Returns whether the newest figure would still count as worse than before. */
function isWorse(finding: Risen, history: Known, begin: number, now: number): boolean {
  const { measure, before } = finding
  const values = valuesOf(finding, history)
  if (values) {
    const newest = values.filter(({ at }) => at >= begin && at < now)
    const median = medianOf(newest.map(({ value }) => value))
    if (median === null) return true
    return measure === 'duration'
      ? median >= durationTimesMin * (before ?? 0)
      : isLongWait(median, before ?? 0)
  }
  const { hits, of } = shareBetween(trialsOf(finding, history), begin, now)
  // A new failure is gone only when no saga has it any more.
  return measure === 'new_failure' ? hits > 0 : isMuchMore(hits / of, before ?? 0)
}
