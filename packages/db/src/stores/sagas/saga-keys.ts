import { keyInTenant } from '@switchyard/domain/saga'
import type { Pool } from 'pg'
import type { NewSagaEvent } from './new-saga-event.js'
import { statement } from './statement.js'

export interface SagaKey {
  tenant: string
  id: string
}

export const keyText = ({ tenant, id }: SagaKey): string => keyInTenant(tenant, id)

export const uniqueKeys = (keys: readonly SagaKey[]): SagaKey[] => [
  ...new Map(keys.map((key) => [keyText(key), key])).values(),
]

export const activityKeys = (events: readonly NewSagaEvent[]): SagaKey[] =>
  uniqueKeys(
    events.flatMap(({ tenant, event }) => ('activityId' in event ? [{ tenant, id: event.activityId }] : [])),
  )

export const eventIdKeys = (events: readonly NewSagaEvent[]): SagaKey[] =>
  uniqueKeys(events.flatMap(({ tenant, eventId }) => (eventId === null ? [] : [{ tenant, id: eventId }])))

const activitySagas = statement(
  `SELECT a.tenant, a.saga_id AS id FROM unnest($1::text[], $2::text[]) AS key(tenant, id)
    JOIN saga_activities a USING (tenant, id) WHERE a.saga_id IS NOT NULL`,
  'saga-ingest-activity-sagas',
)

/** The sagas these events belong to, as far as they are known: named by the event, or by an earlier one. */
export async function findSagaKeys(pool: Pool, events: readonly NewSagaEvent[]): Promise<SagaKey[]> {
  const named = events.flatMap(({ tenant, event }) =>
    'sagaId' in event && event.sagaId !== null ? [{ tenant, id: event.sagaId }] : [],
  )
  const keys = activityKeys(events)
  if (keys.length === 0) return uniqueKeys(named)
  const values = [keys.map(({ tenant }) => tenant), keys.map(({ id }) => id)]
  const { rows } = await pool.query<SagaKey>({ ...activitySagas, values })
  return uniqueKeys([...named, ...rows])
}
