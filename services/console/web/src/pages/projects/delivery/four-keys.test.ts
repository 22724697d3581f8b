import { describe, expect, it } from 'vitest'
import { figureText, firstMonday, type Key, keys } from './four-keys'

describe('the weeks of the delivery metrics', () => {
  it('begin on a Monday, and the last one is the current one', () => {
    const friday = Date.parse('2026-11-27T23:00:00Z')
    expect(firstMonday(1, friday)).toBe('2026-11-23')
    expect(firstMonday(26, friday)).toBe('2026-06-01')
    expect(firstMonday(1, Date.parse('2026-11-29T23:59:59Z'))).toBe('2026-11-23')
    expect(firstMonday(1, Date.parse('2026-11-30T00:00:00Z'))).toBe('2026-11-30')
  })
})

describe('a metric as text', () => {
  const text = (metric: string, value: number | null) =>
    figureText(keys.find((key) => key.metric === metric) as Key, value)

  it('is a number, a time or a share', () => {
    expect(text('deployment_frequency', 1234)).toBe('1,234')
    expect(text('lead_time_for_changes', 3 * 86_400)).toBe('3 d 0 h')
    expect(text('change_failure_rate', 0.25)).toBe('25 %')
    expect(text('change_failure_rate', 0.034)).toBe('3.4 %')
  })

  it('is short at the axis of a chart', () => {
    const axis = keys.find(({ metric }) => metric === 'lead_time_for_changes')?.axis
    const hours = [0, 0.01, 0.25, 39.5, 800]
    expect(hours.map((value) => axis?.(value * 3600))).toEqual(['0', '36 s', '15 min', '39.5 h', '33.3 d'])
  })

  it.each(keys.filter(({ steps }) => steps))(
    'of $metric has no mark twice at its axis',
    ({ axis, steps }) => {
      for (const step of steps ?? []) {
        const marks = [0, 1, 2, 3, 4].map((mark) => axis(mark * step))
        expect(new Set(marks).size, marks.join()).toBe(marks.length)
      }
    },
  )

  it('is a dash without data', () => {
    expect(text('time_to_restore_service', null)).toBe('–')
  })
})
