import { findActivityPayload, type payloadKinds, type Readable, type StoredPayload } from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import type { SagaKey } from './get-saga.js'

/**
 * A payload of an activity as it is stored.
 *
 * @throws DomainError not-found, with size and digest when the payload was too large to be stored
 */
export async function getPayload(
  database: Readable,
  key: SagaKey & { activityId: string },
  kind: (typeof payloadKinds)[number],
): Promise<StoredPayload> {
  const payload = await findActivityPayload(database, key, kind)
  if (!payload) throw notFound('Payload')
  const { size, sha256, bytes } = payload
  if (bytes.length === 0 && size > 0)
    throw notFound('Payload', { extra: { reason: 'not stored: too large', size, sha256 } })
  return payload
}
