import { queryOptions } from '@tanstack/react-query'
import { get } from '../../../api/client'
import type { DoraMetric } from '../../../generated/types.gen'
import { firstMonday, type KeyFigures, keys } from './four-keys'

interface Scope {
  /** Number of weeks, including the current one. */
  weeks: number
  tier: string
  /** Name of an environment, of any tier; undefined: all environments of the tier. */
  environment: string | undefined
}

export const fourKeysQuery = (project: string, { weeks, tier, environment }: Scope, now: number) => {
  const start_date = firstMonday(weeks, now)
  const scope = environment === undefined ? { environment_tiers: tier } : { environment }
  return queryOptions({
    queryKey: [project, 'four-keys', start_date, scope],
    queryFn: ({ signal }) => {
      const read = (metric: string, interval: string) =>
        get<DoraMetric[]>(`${project}/dora/metrics`, { metric, interval, start_date, ...scope }, signal)
      return Promise.all(
        keys.map(async (key): Promise<KeyFigures> => {
          const [weekly, all] = await Promise.all([read(key.metric, 'weekly'), read(key.metric, 'all')])
          return { key, weeks: weekly, overall: all[0]?.value ?? null }
        }),
      )
    },
    staleTime: 30_000,
  })
}
