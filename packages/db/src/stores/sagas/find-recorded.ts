import type { PoolClient } from 'pg'
import { keyText } from './lock-sagas.js'
import type { NewSagaEvent } from './new-saga-event.js'
import { statement } from './statement.js'

const byEventId = statement(
  `SELECT e.tenant, e.event_id AS id FROM unnest($1::text[], $2::text[]) AS key(tenant, event_id)
    JOIN saga_events e USING (tenant, event_id)`,
  'saga-ingest-by-event-id',
)

const byContent = statement(
  `SELECT key.tenant, key.content_key AS "contentKey"
    FROM unnest($1::text[], $2::text[], $3::text[], $4::bytea[]) AS key(tenant, saga_id, activity_id, content_key)
    WHERE CASE WHEN key.activity_id IS NULL THEN EXISTS (
      SELECT FROM saga_events e WHERE e.tenant = key.tenant AND e.saga_id = key.saga_id
        AND e.activity_id IS NULL AND e.content_key = key.content_key)
    ELSE EXISTS (
      SELECT FROM saga_events e WHERE e.tenant = key.tenant AND e.activity_id = key.activity_id
        AND e.content_key = key.content_key) END`,
  'saga-ingest-by-content',
)

/** Those of the callers' event ids that are in the log, as {@link keyText}. */
export async function findRecordedIds(
  client: PoolClient,
  events: readonly NewSagaEvent[],
): Promise<Set<string>> {
  const identified = events.filter(({ eventId }) => eventId !== null)
  if (identified.length === 0) return new Set()
  const values = [identified.map(({ tenant }) => tenant), identified.map(({ eventId }) => eventId)]
  const { rows } = await client.query<{ tenant: string; id: string }>({ ...byEventId, values })
  return new Set(rows.map(keyText))
}

/** Those of the contents that are in the log, as {@link contentText}. */
export async function findRecordedContents(
  client: PoolClient,
  events: readonly NewSagaEvent[],
): Promise<Set<string>> {
  if (events.length === 0) return new Set()
  const values = [
    events.map(({ tenant }) => tenant),
    events.map(({ event }) => ('sagaId' in event ? event.sagaId : null)),
    events.map(({ event }) => ('activityId' in event ? event.activityId : null)),
    events.map(({ contentKey }) => contentKey),
  ]
  const { rows } = await client.query<Pick<NewSagaEvent, 'tenant' | 'contentKey'>>({ ...byContent, values })
  return new Set(rows.map(contentText))
}

export const contentText = ({ tenant, contentKey }: Pick<NewSagaEvent, 'tenant' | 'contentKey'>): string =>
  keyText({ tenant, id: Buffer.from(contentKey).toString('hex') })
