import { describe, expect, it } from 'vitest'
import { pointsOf, spanOf } from './delivery-metrics.js'

const day = (text: string) => new Date(`${text}T00:00:00Z`)
const now = new Date('2026-05-31T15:00:00Z')

describe('the days of a query', () => {
  it('are by default the last three months including today', () => {
    expect(spanOf({ startDate: undefined, endDate: undefined }, now)).toEqual({
      from: day('2026-02-28'),
      to: day('2026-06-01'),
    })
  })

  it('may be one day, or a year', () => {
    const span = (startDate: string, endDate: string) =>
      spanOf({ startDate: day(startDate), endDate: day(endDate) }, now)
    expect(span('2026-05-01', '2026-05-01').to).toEqual(day('2026-05-02'))
    expect(span('2023-05-31', '2024-05-31').from).toEqual(day('2023-05-31'))
    expect(() => span('2024-05-01', '2025-05-03')).toThrow('Date range must not be longer than 366 days.')
    expect(() => span('2026-05-02', '2026-05-01')).toThrow('The start date must not be later')
  })
})

describe('the points of a metric', () => {
  const span = { from: day('2026-02-01'), to: day('2026-02-11') }
  const values = new Map([
    ['2026-02-02', 3],
    ['all', 5],
  ])

  it('are one for each day, week (by its Monday) or month', () => {
    const dates = (interval: 'daily' | 'weekly' | 'monthly') =>
      pointsOf(values, 'deployment_frequency', interval, span).map(({ date }) => date)
    expect(dates('daily')).toHaveLength(10)
    expect(dates('weekly')).toEqual(['2026-01-26', '2026-02-02', '2026-02-09'])
    expect(dates('monthly')).toEqual(['2026-02-01'])
  })

  it('are 0 where nothing was deployed, and null where there is no data for another metric', () => {
    const valuesFor = (metric: 'deployment_frequency' | 'change_failure_rate') =>
      pointsOf(values, metric, 'weekly', span).map(({ value }) => value)
    expect(valuesFor('deployment_frequency')).toEqual([0, 3, 0])
    expect(valuesFor('change_failure_rate')).toEqual([null, 3, null])
  })

  it('are a single point without a date for the interval of all days', () => {
    expect(pointsOf(values, 'deployment_frequency', 'all', span)).toEqual([{ date: null, value: 5 }])
    expect(pointsOf(new Map(), 'lead_time_for_changes', 'all', span)).toEqual([{ date: null, value: null }])
  })
})
