import type { Database } from '@switchyard/db'
import type { Clock } from '@switchyard/domain'

/** What every endpoint of this service is given. */
export interface Dependencies {
  database: Database
  clock: Clock
}
