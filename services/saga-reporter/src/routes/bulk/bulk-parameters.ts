import type { BulkOperator, Readable } from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import { auditAuthor, type Call } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { BulkRunner } from '../../bulk/runner.js'
import { filterParameters, toOrder, toSearch } from '../../wire/search-parameters.js'

export interface BulkDependencies {
  /** Connections with a time limit for each statement. */
  database: Readable
  runner: Pick<BulkRunner, 'wake'>
}

const filterNames = new Set(Object.keys(filterParameters))

/**
 * The filter of a job. A name that is no filter is refused, because without it the filter would find more sagas than its
 * sender wants; for the same reason an empty filter is refused.
 */
export const filterParameter = z.looseObject(filterParameters).superRefine((filter, { addIssue }) => {
  const unknown = Object.keys(filter).filter((name) => !filterNames.has(name))
  for (const name of unknown) addIssue({ code: 'custom', path: [name], message: 'is not a filter' })
  if (unknown.length === 0 && Object.values(filter).every((value) => value === undefined))
    addIssue({ code: 'custom', message: 'is empty' })
})

/** The search of a filter, and the order in which its sagas are processed. */
export function bulkSearch(tenant: string, filter: z.output<typeof filterParameter>) {
  const search = toSearch({ tenant, ...filter })
  return { search, order: toOrder({}, search) }
}

export const operatorOf = (caller: Caller, call: Call): BulkOperator => ({
  userId: caller.user.id,
  name: caller.user.username,
  audit: auditAuthor(caller, call),
})
