import type { DoraMetric } from '../../../generated/types.gen'
import { count, duration } from '../../../lib/format'
import { dayMs } from '../../../lib/local-time'

/** One delivery metric: its name in the API, and its display. */
export interface Key {
  metric: string
  name: string
  /** Its definition, in one sentence. */
  definition: string
  /** Name of its chart, with the unit of the values. */
  chart: string
  color: string
  text: (value: number) => string
  /** Converts a value for the chart, and for a label of its axis. */
  drawn: (value: number) => number
  axis: (drawn: number) => string
  /** Possible distances between marks of the axis. */
  steps?: readonly number[]
}

const same = (value: number) => value
const rounded = (value: number) => count(Math.round(value))
const percentOf = (share: number) => share * 100
const percent = (value: number) => `${value.toFixed(value < 10 ? 1 : 0)} %`
const seconds = (value: number) => duration(value * 1000)

const units = { s: 1, min: 60, h: 3600, d: 86_400 }

/** Returns '45 min', '39.5 h', '8 d', which is short enough for an axis. */
function shortTime(value: number): string {
  const unit = value < 120 ? 's' : value < 2 * units.h ? 'min' : value < 4 * units.d ? 'h' : 'd'
  return value === 0 ? '0' : `${Math.round((value / units[unit]) * 10) / 10} ${unit}`
}

const powersOfTen = [1, 10, 100, 1000, 10_000, 100_000]
/** 1, 2, 5, 10, 20, …, because counts are whole numbers. */
const wholeSteps = powersOfTen.flatMap((power) => [1, 2, 5].map((step) => step * power))
/** Durations that are common on clocks and calendars. */
const timeSteps = [
  ...[1, 2, 5, 10, 15, 30].flatMap((step) => [step * units.s, step * units.min]),
  ...[1, 2, 3, 6, 12].map((step) => step * units.h),
  ...wholeSteps.map((step) => step * units.d),
].sort((a, b) => a - b)

export const keys: readonly Key[] = [
  {
    metric: 'deployment_frequency',
    name: 'Deployment frequency',
    definition: 'Deployments that ended with success.',
    chart: 'Deployments a week',
    color: 'accent',
    text: rounded,
    drawn: same,
    axis: rounded,
    steps: wholeSteps,
  },
  {
    metric: 'lead_time_for_changes',
    name: 'Lead time for changes',
    definition:
      'Half of the commits took at most this long from their author date to the end of the first deployment with them. Merges do not count.',
    chart: 'Lead time of half of the commits, by week',
    color: 'warn',
    text: seconds,
    drawn: same,
    axis: shortTime,
    steps: timeSteps,
  },
  {
    metric: 'change_failure_rate',
    name: 'Change failure rate',
    definition:
      'The share of deployments with which something became worse, that a later one took back, or that a person calls a failure.',
    chart: 'Failed of all deployments, by week',
    color: 'bad',
    text: (share) => percent(percentOf(share)),
    drawn: percentOf,
    axis: percent,
  },
  {
    metric: 'time_to_restore_service',
    name: 'Time to restore service',
    definition:
      'Half of the failures lasted at most this long: from their beginning until the figures were back, or the next deployment had succeeded.',
    chart: 'Time to restore half of the failures, by week',
    color: 'good',
    text: seconds,
    drawn: same,
    axis: shortTime,
    steps: timeSteps,
  },
]

/** A metric over some weeks: its value in all of them, and in each. */
export interface KeyFigures {
  key: Key
  overall: number | null
  weeks: DoraMetric[]
}

/** Returns the Monday, in UTC, of the first of the given number of weeks up to the current week. */
export function firstMonday(weeks: number, now: number): string {
  const sinceMonday = (new Date(now).getUTCDay() + 6) % 7
  return new Date(now - (sinceMonday + (weeks - 1) * 7) * dayMs).toISOString().slice(0, 10)
}

/** Returns a value as text; a dash without a value. */
export const figureText = ({ text }: Key, value: number | null): string =>
  value === null ? '–' : text(value)
