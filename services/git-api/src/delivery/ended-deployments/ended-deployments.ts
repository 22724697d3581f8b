import type { Database, Rows } from '@switchyard/db'
import { dayMs, systemClock } from '@switchyard/domain'
import { boundTenantsOf, type Caller } from '@switchyard/domain/access'
import * as store from './store.js'

interface EndedTimes {
  /** Undefined: a day ago. */
  finishedAfter: Date | undefined
  finishedBefore: Date | undefined
}

/**
 * Lists deployments that have ended and that the caller may read, with the findings in the tenants that the
 * caller's token can access.
 */
export function listEndedDeployments(
  database: Database,
  caller: Caller,
  { finishedAfter = new Date(systemClock().getTime() - dayMs), finishedBefore }: EndedTimes,
  rows: Rows,
): Promise<{ deployments: store.EndedDeployment[]; total: number }> {
  const filter = { finishedAfter, finishedBefore, tenants: boundTenantsOf(caller) }
  return store.listEndedDeployments(database, caller, filter, rows)
}
