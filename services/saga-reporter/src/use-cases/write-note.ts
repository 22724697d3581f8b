import { createSagaNote, type Readable, type SagaNote } from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import type { SagaKey } from './get-saga.js'

/**
 * Stores what an operator writes about a saga.
 *
 * @throws DomainError not-found
 */
export async function writeNote(
  database: Readable,
  key: SagaKey,
  note: Parameters<typeof createSagaNote>[2],
): Promise<SagaNote> {
  const written = await createSagaNote(database, key, note)
  if (!written) throw notFound('Saga')
  return written
}
