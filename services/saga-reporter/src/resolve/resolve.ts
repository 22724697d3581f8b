import { randomUUID } from 'node:crypto'
import { type AuditAuthor, inPoolTransaction, type Pooled, recordAuditEvent } from '@switchyard/db'
import { type Clock, conflict, notFound } from '@switchyard/domain'
import { contentHash, type OperatorEvent, type SagaKey, type SagaStatus } from '@switchyard/domain/saga'
import type { NewSagaEvent, SagaEventStore } from '@switchyard/saga-store'
import { getSagaDetail, type SagaDetail } from '../read/read.js'
import { createSagaNotes, lockSagas, type NewSagaNote, type SagaNote } from './store.js'

export interface Resolution {
  tenant: string
  sagaId: string
  /** Username of the operator. */
  author: string
  note: string
  audit: AuditAuthor
}

export interface ResolveDependencies {
  store: SagaEventStore
  database: Pooled
  clock: Clock
}

/** Returns the reason why a saga of this status cannot be resolved. */
export const nothingToResolve = (status: SagaStatus): string =>
  `There is nothing to resolve: the saga is ${status}`

/**
 * Resolves a failed saga by an event of the log, and returns the saga afterwards.
 *
 * @throws DomainError not-found | conflict when it is not in status Error | unavailable when it cannot be
 *   stored now
 */
export async function resolveSaga(
  { store, database, clock }: ResolveDependencies,
  { tenant, sagaId, author, note, audit }: Resolution,
): Promise<SagaDetail> {
  await store.recordWithin(async ({ client, record }) => {
    const saga = (await lockSagas(client, tenant, [sagaId])).get(sagaId)
    if (!saga) throw notFound('Saga')
    if (saga.status !== 'Error') throw conflict(nothingToResolve(saga.status))
    const event = operatorEvent(tenant, { operation: 'OperatorResolved', sagaId, author, note }, clock())
    const [result] = await record([event])
    if (result instanceof Error) throw result
    await recordAuditEvent(client, audit, {
      eventName: 'saga_resolved',
      entityType: 'Saga',
      entityId: sagaId,
      details: { tenant },
    })
  })
  return getSagaDetail(database, { tenant, sagaId }, null)
}

/** Returns an operator's event for the log; its request is JSON. */
export function operatorEvent(tenant: string, event: OperatorEvent, receivedAt: Date): NewSagaEvent {
  const { operation, ...fields } = event
  const request = Buffer.from(JSON.stringify(fields))
  return {
    tenant,
    event,
    receivedAt,
    // A later failure may be resolved with the same note, so each resolution has its own id.
    eventId: `resolution-${randomUUID()}`,
    eventTime: null,
    contentKey: contentHash({ operation, request, eventSeq: null, attempt: null }),
    request,
  }
}

/**
 * Stores an operator's note about a saga.
 *
 * @throws DomainError not-found
 */
export const writeNote = (
  { pool }: Pooled,
  { tenant, sagaId }: SagaKey,
  note: NewSagaNote,
  audit: AuditAuthor,
): Promise<SagaNote> =>
  inPoolTransaction(pool, async (client) => {
    const [written] = await createSagaNotes(client, { tenant, sagaIds: [sagaId] }, note)
    if (!written) throw notFound('Saga')
    await recordAuditEvent(client, audit, {
      eventName: 'saga_note_added',
      entityType: 'Saga',
      entityId: sagaId,
      details: { tenant },
    })
    return written
  })
