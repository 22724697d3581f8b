import { z } from 'zod'
import { filterParameters, toOrder, toSearch } from './parameters.js'

const filterNames = new Set(Object.keys(filterParameters))

/**
 * The filter of sagas that are changed together. A name that is no filter is refused, because without it the filter would find more
 * sagas than its sender wants; for the same reason an empty filter is refused.
 */
export const filterParameter = z.looseObject(filterParameters).superRefine((filter, { addIssue }) => {
  const unknown = Object.keys(filter).filter((name) => !filterNames.has(name))
  for (const name of unknown) addIssue({ code: 'custom', path: [name], message: 'is not a filter' })
  if (unknown.length === 0 && Object.values(filter).every((value) => value === undefined))
    addIssue({ code: 'custom', message: 'is empty' })
})

export type SagaFilter = z.output<typeof filterParameter>

/** The search of a filter, and the order in which its sagas are processed. */
export function searchOf(tenant: string, filter: SagaFilter) {
  const search = toSearch({ tenant, ...filter })
  return { search, order: toOrder({}, search) }
}
