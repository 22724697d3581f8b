import type { PoolClient, Pooled } from '@switchyard/db'
import type { SagaKey, SagaStatus } from '@switchyard/domain/saga'
import { lockKeys } from '@switchyard/saga-store'
import { readRows } from '../limited-database.js'
import { lastEvent } from '../saga-view-store.js'

export interface SagaNote {
  id: number
  authorId: number
  authorName: string
  body: string
  createdAt: Date
}

const noteColumns = `id::integer, author_id AS "authorId", author_name AS "authorName", body, created_at AS "createdAt"`

const notesOfSaga = {
  name: 'saga-read-notes',
  text: `SELECT ${noteColumns} FROM saga_notes n WHERE n.tenant = $1 AND n.saga_id = $2 ORDER BY n.id`,
}

/** Lists the operators' notes about a saga, oldest first. */
export const listSagaNotes = (database: Pooled, { tenant, sagaId }: SagaKey): Promise<SagaNote[]> =>
  readRows<SagaNote>(database, { ...notesOfSaga, values: [tenant, sagaId] })

const newNotes = {
  name: 'saga-write-notes',
  text: `INSERT INTO saga_notes (tenant, saga_id, author_id, author_name, body)
    SELECT s.tenant, s.id, $3, $4, $5 FROM sagas s WHERE s.tenant = $1 AND s.id = ANY($2::text[])
    RETURNING ${noteColumns}`,
}

export type NewSagaNote = Pick<SagaNote, 'authorId' | 'authorName' | 'body'>

/** Stores a note about each of the sagas that exist, in the transaction of the connection. */
export async function createSagaNotes(
  client: PoolClient,
  { tenant, sagaIds }: { tenant: string; sagaIds: readonly string[] },
  { authorId, authorName, body }: NewSagaNote,
): Promise<SagaNote[]> {
  const { rows } = await client.query<SagaNote>({
    ...newNotes,
    values: [tenant, sagaIds, authorId, authorName, body],
  })
  return rows
}

/** The state that decides whether a saga may be resolved, or its resolution undone. */
export interface LockedSaga {
  status: SagaStatus
  resolvedAt: Date | null
  resolvedBy: string | null
  /** The last event of the saga and its activities. */
  lastEventAt: Date
}

/**
 * Locks sagas in the same way as recording does, and then reads them, because a row may change until it is
 * locked.
 */
export async function lockSagas(
  client: PoolClient,
  tenant: string,
  ids: readonly string[],
): Promise<Map<string, LockedSaga>> {
  await lockKeys(client, { activities: [], sagas: ids.map((id) => ({ tenant, id })) })
  const { rows } = await client.query<LockedSaga & { id: string }>(
    `SELECT s.id, s.status, s.resolved_at AS "resolvedAt", s.resolved_by AS "resolvedBy",
       ${lastEvent} AS "lastEventAt"
     FROM unnest($2::text[]) AS given(id) JOIN sagas s ON s.tenant = $1 AND s.id = given.id`,
    [tenant, ids],
  )
  return new Map(rows.map(({ id, ...saga }) => [id, saga]))
}
