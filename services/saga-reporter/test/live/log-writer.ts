import type { Database, Pooled } from '@switchyard/db'

export interface NewEntry {
  tenant?: string
  sagaId?: string | null
  activityId?: string | null
  operation?: string
  receivedAt?: Date
}

/** Appends an entry in the open transaction, as a writer of the log does, and returns its position. */
export async function appendEntry(
  client: Pick<Database['pool'], 'query'>,
  given: NewEntry = {},
): Promise<number> {
  const { tenant = 'default', sagaId = 's', activityId = null, operation = 'SagaStarted' } = given
  const { rows } = await client.query<{ id: string }>(
    `INSERT INTO saga_events (tenant, received_at, operation, saga_id, activity_id, content_key, result, request)
     VALUES ($1, $2, $3, $4, $5, '', 'recorded', '') RETURNING id`,
    [tenant, given.receivedAt ?? new Date(), operation, sagaId, activityId],
  )
  return Number(rows[0]?.id)
}

/** Appends many entries in one transaction, one for each saga id. */
export async function appendEntries({ pool }: Pooled, sagaIds: string[]): Promise<number[]> {
  const { rows } = await pool.query<{ id: string }>(
    `INSERT INTO saga_events (tenant, operation, saga_id, content_key, result, request)
     SELECT 'default', 'SagaStarted', saga_id, '', 'recorded', repeat('x', 100)::bytea
     FROM unnest($1::text[]) AS saga_id RETURNING id`,
    [sagaIds],
  )
  return rows.map(({ id }) => Number(id))
}

/** Adds the row that is derived from a saga's events. */
export const addSagaRow = ({ pool }: Pooled, id: string, service: string, status: string) =>
  pool.query(
    `INSERT INTO sagas (tenant, id, service_name, status, first_seen_at, last_event_at)
     VALUES ('default', $1, $2, $3, now(), now())`,
    [id, service, status],
  )
