import { durationTimesMin, type Finding, isMuchMore, type SagaRun } from './find-impact.js'
import { onsetWithin, shareBetween, type Trial } from './onset.js'
import { medianOf } from './statistics.js'

const minuteMs = 60_000
/** The newest sagas tell whether a figure is back: those of the first of these times that has enough of them. */
const recentMinutes = [15, 30, 60]

type Risen = Pick<Finding, 'measure' | 'before' | 'after' | 'onset'> & { fingerprint: string }

/**
 * When a figure that became worse was back where it was before: the most likely single change of its share, as for the beginning. Null:
 * it is not back, or too few sagas tell.
 *
 * @param runs by time
 * @param from the times of runs that are known, which may be later than the beginning of the finding
 */
export function recoveryOf(
  finding: Risen,
  runs: readonly SagaRun[],
  { from, now, sagasMin }: { from: number; now: number; sagasMin: number },
): number | null {
  const known = Math.max(from, finding.onset)
  const since = runs.filter(({ at }) => at >= known && at < now)
  const trials = trialsOf(finding, since)
  const begin = recentMinutes
    .map((minutes) => now - minutes * minuteMs)
    .find((time) => time >= finding.onset && shareBetween(trials, time, now).of >= sagasMin)
  if (begin === undefined || isWorse(finding, since, begin, now)) return null
  const relieved = trials.map(({ at, hit }) => ({ at, hit: !hit }))
  return onsetWithin(relieved, known, now) ?? begin
}

function trialsOf({ measure, before, after, fingerprint }: Risen, runs: readonly SagaRun[]): Trial[] {
  if (measure === 'duration') {
    const limit = Math.sqrt((before ?? after) * after)
    return runs.flatMap(({ at, seconds, failed }) =>
      seconds === null || failed ? [] : [{ at, hit: seconds > limit }],
    )
  }
  const isHit = (run: SagaRun) => {
    if (measure === 'new_failure') return run.fingerprint === fingerprint
    return measure === 'stuck' ? run.stuck : run.failed
  }
  return runs.map((run) => ({ at: run.at, hit: isHit(run) }))
}

/** Whether the figure of the newest sagas is still one that would count as worse than before. */
function isWorse(finding: Risen, runs: readonly SagaRun[], begin: number, now: number): boolean {
  const { measure, before } = finding
  if (measure === 'duration') {
    const median = medianOf(
      runs.flatMap(({ at, seconds, failed }) => (seconds === null || failed || at < begin ? [] : [seconds])),
    )
    return median === null || median >= durationTimesMin * (before ?? 0)
  }
  const { hits, of } = shareBetween(trialsOf(finding, runs), begin, now)
  // A failure that is new is gone only when nobody has it any more.
  return measure === 'new_failure' ? hits > 0 : isMuchMore(hits / of, before ?? 0)
}
