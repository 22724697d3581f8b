import { queryOptions } from '@tanstack/react-query'
import { get } from '../../api/client'
import type { JobHistory } from '../../generated/types.gen'
import { oneOf } from '../../lib/search-params'

export const ranges = ['hour', 'day'] as const
export type Range = (typeof ranges)[number]

export const rangeNames = [
  ['hour', 'Last hour'],
  ['day', 'Last day'],
] as const satisfies [Range, string][]

export const rangeOf = (text: string | undefined): Range => oneOf(ranges, text) ?? 'hour'

const resolutions: Record<Range, number> = { hour: 10, day: 60 }

export const historyQuery = (range: Range, source?: string, queue?: string) =>
  queryOptions({
    queryKey: ['jobqueue', 'history', range, source, queue],
    queryFn: ({ signal }) =>
      get<JobHistory>('/jobqueue/history', { source, queue, resolution: resolutions[range] }, signal),
    refetchInterval: resolutions[range] * 1000,
  })

/**
 * Returns the growth of a counter from point to point, per minute. Null where a point is unknown, or the
 * counter was reset.
 */
export function perMinute(values: (number | null)[], resolutionSeconds: number): (number | null)[] {
  return values.map((value, index) => {
    const before = values[index - 1]
    if (value === null || before === null || before === undefined || value < before) return null
    return ((value - before) * 60) / resolutionSeconds
  })
}
