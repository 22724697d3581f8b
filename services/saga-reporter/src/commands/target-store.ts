import type { Pooled } from '@switchyard/db'
import { SqlParameters } from '@switchyard/db/sql'
import {
  type ActivityStatus,
  finishedStepStatuses,
  type SagaKey,
  type SagaOutcome,
  type SagaStatus,
} from '@switchyard/domain/saga'
import { readRows } from '../limited-database.js'
import { sagaSource } from '../saga-source.js'
import type { SagaOrder, SagaSearch } from '../shapes/search.js'
import { isOpen } from './store.js'

/** The saga and the step that a command may be about. */
export interface CommandTarget {
  sagaId: string
  status: SagaStatus
  outcome: SagaOutcome | null
  /** Null when no event has named a service. */
  serviceName: string | null
  /** The step at which the saga stands: the last one that has neither succeeded nor been undone. */
  stepId: string | null
  hasOpenCommand: boolean
}

const notWaiting = ['NotStarted', ...finishedStepStatuses].map((status) => `'${status}'`).join(', ')

/** Lists targets in the order of the ids; missing sagas are left out. */
export const listCommandTargets = (
  database: Pooled,
  tenant: string,
  sagaIds: readonly string[],
): Promise<CommandTarget[]> =>
  readRows<CommandTarget>(database, {
    text: `SELECT s.id AS "sagaId", s.status, s.outcome, s.service_name AS "serviceName", step.id AS "stepId",
        EXISTS (SELECT FROM saga_commands c WHERE c.tenant = s.tenant AND c.saga_id = s.id AND ${isOpen}) AS "hasOpenCommand"
      FROM unnest($2::text[]) WITH ORDINALITY AS given(id, position)
      JOIN sagas s ON s.tenant = $1 AND s.id = given.id
      LEFT JOIN LATERAL (
        SELECT a.id FROM saga_activities a WHERE a.tenant = s.tenant AND a.saga_id = s.id
          AND a.status NOT IN (${notWaiting})
        ORDER BY a."order" DESC NULLS LAST, a.first_seen_at DESC, a.id LIMIT 1) step ON true
      ORDER BY given.position`,
    values: [tenant, sagaIds],
  })

/** Returns the status of a step of a saga; null when the saga has no such step. */
export async function findStepStatus(
  database: Pooled,
  { tenant, sagaId, activityId }: SagaKey & { activityId: string },
): Promise<ActivityStatus | null> {
  const [step] = await readRows<{ status: ActivityStatus }>(database, {
    text: 'SELECT status FROM saga_activities WHERE tenant = $1 AND id = $2 AND saga_id = $3',
    values: [tenant, activityId, sagaId],
  })
  return step?.status ?? null
}

/** Lists the first sagas of a search. @throws DomainError unavailable when it takes too long */
export async function listSagaIds(
  database: Pooled,
  { search, order }: { search: SagaSearch; order: SagaOrder },
  take: number,
): Promise<string[]> {
  const parameters = new SqlParameters()
  const source = sagaSource({ search, order }, parameters)
  const text = `SELECT s.id FROM ${source.from} WHERE ${source.where.join(' AND ')}
    ORDER BY ${source.order} LIMIT ${parameters.add(take)}`
  const rows = await readRows<{ id: string }>(database, { text, values: parameters.values })
  return rows.map(({ id }) => id)
}
