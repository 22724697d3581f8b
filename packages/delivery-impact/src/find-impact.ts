import { hourMs } from '@switchyard/domain'
import type { ImpactFinding } from '@switchyard/domain/deployment'
import { changePointWithin, shareBetween, type Trial } from './change-point.js'
import {
  dispersionOf,
  medianOf,
  pValueOfShare,
  pValueOfValues,
  type Share,
  totalOf,
  usualHours,
  usualOf,
} from './statistics.js'

/** A saga that has ended, or that failed for the first time. */
export interface SagaRun {
  /** Time of its end or failure, in Unix milliseconds. */
  at: number
  /** Whether it failed or was compensated. */
  failed: boolean
  /** Seconds from its start to its end; null while it has not ended. */
  seconds: number | null
  /** Fingerprint of its first error; null when it has none. */
  fingerprint: string | null
  /** Whether the saga is unfinished and had no event for longer than allowed. */
  stuck: boolean
}

/** The activity of the queues of a service since the previous sample. */
export interface QueueSample {
  at: number
  /** Whole seconds that the oldest job has waited; null: unknown. */
  latencySeconds: number | null
  /** Attempts at jobs. */
  jobs: number
  failed: number
}

/** The data of a service around a deployment. */
export interface ServiceHistory {
  /** Sagas from the beginning of the window before the deployment, by time. */
  runs: readonly SagaRun[]
  /** Samples by time, which may begin a day before the deployment. */
  queues: readonly QueueSample[]
  /** The shares of failed and of waiting sagas in each hour of the day before the deployment. */
  hours: { failed: readonly Share[]; stuck: readonly Share[] }
  /** Fingerprints among `runs` that occurred in the two weeks before the deployment. */
  knownFingerprints: ReadonlySet<string>
}

export interface Moments {
  /** Beginning of the deployment, in Unix milliseconds; `finishedAt` is its end. */
  startedAt: number
  finishedAt: number
  /** Beginning of the window before; `to` is the end of the window after. */
  from: number
  to: number
  /** Fewest sagas after a deployment that allow a statement about a rate. */
  sagasMin: number
}

export const measures = [
  'failures',
  'new_failure',
  'duration',
  'stuck',
  'queue_latency',
  'failed_jobs',
] as const

/** The statistical test of each measure. */
export const testNames: Record<Measure, string> = {
  failures: "Fisher's exact test",
  new_failure: "Fisher's exact test",
  duration: 'Brunner-Munzel test',
  stuck: "Fisher's exact test",
  queue_latency: 'Brunner-Munzel test',
  failed_jobs: "Fisher's exact test",
}

export type Measure = (typeof measures)[number]

/** One figure of the compared service. */
export interface Finding extends Omit<ImpactFinding, 'tenant' | 'serviceName' | 'measure'> {
  measure: Measure
  /** Time at which the figure became worse, in Unix milliseconds. */
  changePoint: number
}

const lookMinutes = [2, 5, 10, 15, 30]

/**
 * Returns the times of the looks at a deployment, in minutes after its end. The first ones are soon, and the
 * last one is when the window after it is full.
 */
export const looksWithin = (windowMinutes: number): number[] => [
  ...lookMinutes.filter((minutes) => minutes < windowMinutes),
  windowMinutes,
]

/** Longest time after the end of a deployment at which a rise can begin because of it. */
export const changePointMsMax = 10 * 60_000
/**
 * Largest p-value of a difference that counts. With five figures and six looks at each of a thousand
 * deployments, about three differences occur by chance.
 */
const pValueMax = 1e-5

const timesMin = 2
const percentagePointsMin = 0.05
export const durationTimesMin = 1.5
const newFailuresMin = 3
/** Largest p-value of a new failure. A new failure is rare by itself, so less evidence suffices. */
const newFailurePValueMax = 0.01

/**
 * Finds the figures of a service that became worse with a deployment. Each figure of the window after it is
 * compared with the window before by a statistical test. A rise counts only when it begins with the
 * deployment.
 */
export function findImpact(history: ServiceHistory, moments: Moments): Finding[] {
  const findings = [
    failures(history, moments),
    ...newFailures(history, moments),
    stuck(history, moments),
    duration(history, moments),
    queueLatency(history, moments),
    failedJobs(history, moments),
  ]
  return findings.filter((finding): finding is Finding => finding !== null)
}

/**
 * Fewest other services that became worse at the same time without a deployment, from which the cause is a
 * common one.
 */
const othersMin = 2
const otherShareMin = 0.1

/**
 * Returns whether services that were not deployed became worse at the same moment, so that the deployment is
 * not the cause.
 *
 * @param others services without a deployment in the windows
 */
export function isCommonCause(others: readonly ServiceHistory[], moments: Moments): boolean {
  const worse = others.filter((history) => findImpact(history, moments).length > 0).length
  return worse >= othersMin && worse >= otherShareMin * others.length
}

/** Finds the time at which hits became more frequent; null when that did not begin with the deployment. */
const changePointWith = (trials: readonly Trial[], { startedAt, finishedAt }: Moments): number | null =>
  changePointWithin(trials, startedAt, finishedAt + changePointMsMax)

const trialsOf = (runs: readonly SagaRun[], isHit: (run: SagaRun) => boolean): Trial[] =>
  runs.map((run) => ({ at: run.at, hits: isHit(run) ? 1 : 0, of: 1 }))

/**
 * Returns the probability that chance alone makes hits as frequent as they are after the deployment. They are
 * compared with the usual hours of the day before it, or with the window before it when there are none.
 */
function pValueOfRise(
  trials: readonly Trial[],
  { from, startedAt, to }: Moments,
  hours: readonly Share[] = [],
): number {
  const usual = totalOf(usualHours(hours))
  const dispersion = dispersionOf(hours)
  const counted = ({ hits, of }: Share) => ({
    hits: Math.round(hits / dispersion),
    of: Math.round(of / dispersion),
  })
  return pValueOfShare(
    counted(usual.of === 0 ? shareBetween(trials, from, startedAt) : usual),
    counted(shareBetween(trials, startedAt, to)),
  )
}

/** Returns whether a rate is so much higher than before that it counts. */
export const isMuchMore = (after: number, before: number): boolean =>
  after >= timesMin * before && after >= before + percentagePointsMin

function risenShare(
  measure: Measure,
  trials: readonly Trial[],
  moments: Moments,
  hours?: readonly Share[],
): Finding | null {
  const changePoint = changePointWith(trials, moments)
  if (changePoint === null) return null
  // These trials chose the change point, so the test is made at the time of the deployment, which they did
  // not choose.
  const { startedAt, from, to } = moments
  const [before, after] = [shareBetween(trials, from, startedAt), shareBetween(trials, changePoint, to)]
  if (after.of < moments.sagasMin) return null
  const [rateBefore, rateAfter] = [before.of === 0 ? null : before.hits / before.of, after.hits / after.of]
  const isLarge = isMuchMore(rateAfter, rateBefore ?? 0)
  const pValue = pValueOfRise(trials, moments, hours)
  if (!isLarge || before.of === 0 || pValue > pValueMax) return null
  return {
    measure,
    before: rateBefore,
    after: rateAfter,
    samplesBefore: before.of,
    samplesAfter: after.of,
    pValue,
    changePoint,
    fingerprint: '',
  }
}

const failures = ({ runs, hours }: ServiceHistory, moments: Moments) =>
  risenShare(
    'failures',
    trialsOf(runs, ({ failed }) => failed),
    moments,
    hours.failed,
  )

const stuck = ({ runs, hours }: ServiceHistory, moments: Moments) =>
  risenShare(
    'stuck',
    trialsOf(runs, (run) => run.stuck),
    moments,
    hours.stuck,
  )

/** Finds failures with an error fingerprint that did not occur in the two weeks before. */
function newFailures({ runs, knownFingerprints }: ServiceHistory, moments: Moments): Finding[] {
  const after = runs.filter(({ at }) => at >= moments.startedAt && at < moments.to)
  const byFingerprint = new Map<string, SagaRun[]>()
  for (const run of after)
    if (run.failed && run.fingerprint !== null && !knownFingerprints.has(run.fingerprint)) {
      const found = byFingerprint.get(run.fingerprint)
      if (found) found.push(run)
      else byFingerprint.set(run.fingerprint, [run])
    }
  return [...byFingerprint].flatMap(([fingerprint, found]) => {
    const changePoint = found[0]?.at ?? moments.to
    if (found.length < newFailuresMin || changePoint > moments.finishedAt + changePointMsMax) return []
    const trials = trialsOf(runs, (run) => run.fingerprint === fingerprint)
    const before = shareBetween(trials, moments.from, moments.startedAt).of
    const pValue = pValueOfRise(trials, moments)
    if (after.length < moments.sagasMin || pValue > newFailurePValueMax) return []
    return [
      {
        measure: 'new_failure' as const,
        before: before === 0 ? null : 0,
        after: found.length / after.length,
        samplesBefore: before,
        samplesAfter: after.length,
        pValue,
        changePoint,
        fingerprint,
      },
    ]
  })
}

function risenValues(
  measure: Measure,
  values: readonly { at: number; value: number }[],
  moments: Moments,
  timesLeast: number,
): Finding | null {
  const valuesOf = (from: number, to: number) =>
    values.filter(({ at }) => at >= from && at < to).map(({ value }) => value)
  const { from, to, startedAt, finishedAt } = moments
  const [before, after] = [valuesOf(from, startedAt), valuesOf(finishedAt, to)]
  const [medianBefore, medianAfter] = [medianOf(before), medianOf(after)]
  if (medianBefore === null || medianAfter === null || medianAfter < timesLeast * medianBefore) return null
  const pValue = pValueOfValues(before, after)
  const limit = Math.sqrt(medianBefore * medianAfter)
  const trials = values.map(({ at, value }) => ({ at, hits: value > limit ? 1 : 0, of: 1 }))
  const changePoint = changePointWith(trials, moments)
  if (pValue > pValueMax || changePoint === null) return null
  return {
    measure,
    before: medianBefore,
    after: medianAfter,
    samplesBefore: before.length,
    samplesAfter: after.length,
    pValue,
    changePoint,
    fingerprint: '',
  }
}

function duration({ runs }: ServiceHistory, moments: Moments): Finding | null {
  const values = runs.flatMap(({ at, seconds, failed }) =>
    seconds === null || failed ? [] : [{ at, value: seconds }],
  )
  const found = risenValues('duration', values, moments, durationTimesMin)
  return found && found.samplesAfter >= moments.sagasMin ? found : null
}

/**
 * Returns whether a latency is so much longer than before that it counts. It is in whole seconds, so a
 * latency of 0 may be nearly 1.
 */
export const isLongWait = (after: number, before: number): boolean => after >= timesMin * (before + 1)

/**
 * Finds a longer latency. A latency that is usual at another hour of the day is not a finding, because queues
 * are slow for minutes in a row, which the test does not know.
 */
function queueLatency({ queues }: ServiceHistory, moments: Moments): Finding | null {
  const values = queues.flatMap(({ at, latencySeconds }) =>
    latencySeconds === null ? [] : [{ at, value: latencySeconds }],
  )
  const within = values.filter(({ at }) => at >= moments.from && at < moments.to)
  const found = risenValues('queue_latency', within, moments, timesMin)
  if (!found || !isLongWait(found.after, found.before ?? 0)) return null
  const hours = byHour(values, moments.startedAt).map((hour) => medianOf(hour.map(({ value }) => value)) ?? 0)
  const usual = hours.sort((a, b) => a - b).slice(0, usualOf(hours.length))
  return found.after > Math.max(0, ...usual) ? found : null
}

/** Finds a higher share of failed attempts at jobs. */
function failedJobs({ queues }: ServiceHistory, moments: Moments): Finding | null {
  const trials = queues.map(({ at, jobs, failed }): Trial => ({ at, hits: failed, of: jobs }))
  const hours = byHour(trials, moments.startedAt).map(totalOf)
  const within = trials.filter(({ at }) => at >= moments.from && at < moments.to)
  return risenShare('failed_jobs', within, moments, hours)
}

/** Groups the items of the 24 hours before a moment by hour, without empty hours. */
function byHour<Item extends { at: number }>(items: readonly Item[], moment: number): Item[][] {
  const hours = Array.from({ length: 24 }, (): Item[] => [])
  for (const item of items) if (item.at < moment) hours[Math.floor((moment - item.at) / hourMs)]?.push(item)
  return hours.filter((hour) => hour.length > 0)
}
