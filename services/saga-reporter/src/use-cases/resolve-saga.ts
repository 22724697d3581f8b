import { randomUUID } from 'node:crypto'
import { findSagaView, type Readable } from '@switchyard/db'
import { type Clock, conflict, notFound } from '@switchyard/domain'
import { contentHash } from '@switchyard/domain/saga'
import type { SagaIngest } from '../ingest/saga-ingest.js'
import { getSagaDetail, type SagaDetail } from './get-saga.js'

export interface Resolution {
  tenant: string
  sagaId: string
  /** User name of the operator. */
  author: string
  note: string
}

/**
 * Settles a saga that failed, by an event of the log; gives the saga as it is afterwards.
 *
 * @throws DomainError not-found | conflict when it is not in status Error | unavailable when it cannot be stored now
 */
export type ResolveSaga = (resolution: Resolution) => Promise<SagaDetail>

interface Dependencies {
  ingest: SagaIngest
  readDatabase: Readable
  clock: Clock
}

export function createResolveSaga({ ingest, readDatabase, clock }: Dependencies): ResolveSaga {
  return async ({ tenant, sagaId, author, note }) => {
    const saga = await findSagaView(readDatabase, tenant, sagaId)
    if (!saga) throw notFound('Saga')
    if (saga.status !== 'Error') throw conflict(`There is nothing to resolve: the saga is ${saga.status}`)
    const request = Buffer.from(JSON.stringify({ sagaId, author, note }))
    const operation = 'OperatorResolved'
    await ingest.record({
      tenant,
      event: { operation, sagaId, author, note },
      receivedAt: clock(),
      // A later failure may be resolved in the same words.
      eventId: `resolution-${randomUUID()}`,
      eventTime: null,
      contentKey: contentHash({ operation, request, eventSeq: null, attempt: null }),
      request,
    })
    return getSagaDetail(readDatabase, { tenant, sagaId })
  }
}
