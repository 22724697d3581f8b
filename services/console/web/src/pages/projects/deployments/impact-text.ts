import type { FoundImpact, ImpactFigures, ImpactFinding } from '../../../generated/types.gen'
import { count, countOf, duration } from '../../../lib/format'

const digitsMax = 7

/** Returns 'over 99.999 %'; for a p-value of one in a million, 99.9999 %. Never 100 %. */
export function confidenceText(pValue: number): string {
  const digits = Math.min(digitsMax, Math.max(0, Math.floor(-Math.log10(Math.max(pValue, 1e-9))) - 2))
  const unit = 10 ** digits
  const percent = Math.min(Math.floor((1 - pValue) * 100 * unit), 100 * unit - 1) / unit
  return `over ${percent.toFixed(digits)} %`
}

/** Returns '3 of 120 sagas (2.5 %)'. */
export const shareText = (hits: number, of: number, noun = 'saga'): string =>
  of === 0 ? `no ${noun}s` : `${count(hits)} of ${countOf(of, noun)} (${percentText(hits / of)})`

const percentText = (share: number) => `${(share * 100).toFixed(1)} %`

/** Returns '3 s of 119 sagas'. */
export const secondsText = (seconds: number | null, of: number, noun: string): string =>
  seconds === null ? `no ${noun}s` : `${duration(seconds * 1000)} of ${countOf(of, noun)}`

export const failedOf = ({ failed, compensated }: ImpactFigures) => failed + compensated

const names: Record<ImpactFinding['measure'], string> = {
  failures: 'more sagas fail',
  new_failure: 'a new failure',
  duration: 'sagas take longer',
  stuck: 'more sagas wait',
  queue_latency: 'its queues are slower',
  failed_jobs: 'more jobs fail',
}

/** All figures that can become worse, in the order of the API. */
export const measures = Object.keys(names) as ImpactFinding['measure'][]

export const nameOf = ({ measure }: Pick<ImpactFinding, 'measure'>): string => names[measure]

/** Returns '3.2 times as much', or 'none before' for a figure that was zero before. */
export const ratioText = (ratio: number | null): string =>
  ratio === null ? 'none before' : `${Number(ratio.toPrecision(3))} times as much`

/**
 * Measures whose values count from the change point, because they are shares that rose; others count from the
 * deployment.
 */
const countsFromChange: ImpactFinding['measure'][] = ['failures', 'stuck', 'failed_jobs']

/**
 * Returns the values of a finding: '0.8 % of 120 before, 25 % of 115 from the change on', or 'after' the
 * deployment.
 */
export function changeText({
  measure,
  before,
  after,
  ...samples
}: Pick<ImpactFinding, 'measure' | 'before' | 'after' | 'samples_before' | 'samples_after'>): string {
  const isTime = measure === 'duration' || measure === 'queue_latency'
  const show = (value: number) => (isTime ? duration(value * 1000) : percentText(value))
  const earlier = before === null ? 'none' : show(before)
  const since = countsFromChange.includes(measure) ? 'from the change on' : 'after'
  return `${earlier} of ${count(samples.samples_before)} before, ${show(after)} of ${count(samples.samples_after)} ${since}`
}

/** Returns 'Began 3 minutes after' the end of a deployment, or 'Began during' it. */
export function beganText(beganAt: string, finishedAt: string | null): string {
  const ms = finishedAt === null ? 0 : Date.parse(beganAt) - Date.parse(finishedAt)
  if (ms <= 0) return 'Began during'
  const minutes = Math.floor(ms / 60_000)
  return `Began ${minutes === 0 ? countOf(Math.ceil(ms / 1000), 'second') : countOf(minutes, 'minute')} after`
}

/**
 * Returns for each service the deployment that most likely made it worse, with the smallest p-value.
 * Dismissed ones come after all others.
 */
export function surestOfEach(found: readonly FoundImpact[]): FoundImpact[] {
  const byService = new Map<string, FoundImpact>()
  const sorted = found.toSorted(
    (one, other) => Number(one.dismissed) - Number(other.dismissed) || one.chance - other.chance,
  )
  for (const each of sorted) if (!byService.has(each.service_name)) byService.set(each.service_name, each)
  return [...byService.values()]
}
