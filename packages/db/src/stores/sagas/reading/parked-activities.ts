import { type Readable, readRows } from './read-query.js'
import type { SagaPosition } from './saga-search.js'
import { SqlParameters } from './sql-parameters.js'

export interface ParkedActivity {
  id: string
  status: string
  firstSeenAt: Date
  lastEventAt: Date
  executeErrors: string | null
  compensateErrors: string | null
}

/** Activities whose saga no event has named, the newest first; at most `take`, after a position. */
export function listParkedActivities(
  database: Readable,
  tenant: string,
  { after, take }: { after: SagaPosition | null; take: number },
): Promise<ParkedActivity[]> {
  const parameters = new SqlParameters()
  const where = [`a.tenant = ${parameters.add(tenant)}`, 'a.saga_id IS NULL']
  if (after) {
    const at = parameters.add(after.at)
    where.push(`a.first_seen_at <= ${at}`, `(a.first_seen_at < ${at} OR a.id < ${parameters.add(after.id)})`)
  }
  const text = `SELECT a.id, a.status, a.first_seen_at AS "firstSeenAt", a.last_event_at AS "lastEventAt",
      a.execute_errors AS "executeErrors", a.compensate_errors AS "compensateErrors"
    FROM saga_activities a WHERE ${where.join(' AND ')}
    ORDER BY a.first_seen_at DESC, a.id DESC LIMIT ${parameters.add(take)}`
  return readRows<ParkedActivity>(database, { text, values: parameters.values })
}
