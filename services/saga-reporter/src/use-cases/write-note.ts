import {
  type AuditAuthor,
  createSagaNotes,
  inPoolTransaction,
  type NewSagaNote,
  type Readable,
  recordAuditEvents,
  type SagaNote,
} from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import type { SagaKey } from './get-saga.js'

/**
 * Stores what an operator writes about a saga.
 *
 * @throws DomainError not-found
 */
export const writeNote = (
  { pool }: Readable,
  { tenant, sagaId }: SagaKey,
  note: NewSagaNote,
  audit: AuditAuthor,
): Promise<SagaNote> =>
  inPoolTransaction(pool, async (client) => {
    const [written] = await createSagaNotes(client, { tenant, sagaIds: [sagaId] }, note)
    if (!written) throw notFound('Saga')
    await recordAuditEvents(client, audit, [
      { eventName: 'saga_note_added', entityType: 'Saga', entityId: sagaId, details: { tenant } },
    ])
    return written
  })
