import type { DoraMetric } from '../../../generated/types.gen'
import { count, duration } from '../../../lib/format'
import { dayMs } from '../../../lib/local-time.js'

/** One of the four keys: what it is called in the API, and how it is shown. */
export interface Key {
  metric: string
  name: string
  /** What it counts, in one sentence. */
  definition: string
  /** Name of its chart, with the unit of the values. */
  chart: string
  color: string
  text: (value: number) => string
  /** The value as the chart draws it, and what stands at its axis. */
  drawn: (value: number) => number
  axis: (drawn: number) => string
}

const same = (value: number) => value
const whole = (value: number) => count(Math.round(value))
const percentOf = (share: number) => share * 100
const percent = (value: number) => `${value.toFixed(value < 10 ? 1 : 0)} %`
const seconds = (value: number) => duration(value * 1000)
const hoursOf = (value: number) => value / 3600

/** '45 min', '39.5 h', '8 d': short enough for an axis. */
function hours(value: number): string {
  if (value > 0 && value < 1) return `${Math.round(value * 60)} min`
  const [size, unit] = value < 96 ? [value, 'h'] : [value / 24, 'd']
  return `${Math.round(size * 10) / 10} ${unit}`
}

export const keys: readonly Key[] = [
  {
    metric: 'deployment_frequency',
    name: 'Deployment frequency',
    definition: 'Deployments that ended with success.',
    chart: 'Deployments a week',
    color: 'accent',
    text: whole,
    drawn: same,
    axis: whole,
  },
  {
    metric: 'lead_time_for_changes',
    name: 'Lead time for changes',
    definition:
      'Half of the commits took at most this long from their author date to the end of the first deployment with them. Merges do not count.',
    chart: 'Lead time of half of the commits, by week',
    color: 'warn',
    text: seconds,
    drawn: hoursOf,
    axis: hours,
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
    drawn: hoursOf,
    axis: hours,
  },
]

/** A key over some weeks: its value in all of them, and in each. */
export interface KeyFigures {
  key: Key
  whole: number | null
  weeks: DoraMetric[]
}

/** The Monday, in UTC, on which the first of some weeks began, the last of which is the current one. */
export function firstMonday(weeks: number, now: number): string {
  const sinceMonday = (new Date(now).getUTCDay() + 6) % 7
  return new Date(now - (sinceMonday + (weeks - 1) * 7) * dayMs).toISOString().slice(0, 10)
}

/** A figure as text; a dash where there is none. */
export const figureText = ({ text }: Key, value: number | null): string =>
  value === null ? '–' : text(value)
