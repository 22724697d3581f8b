import { Metadata } from '@grpc/grpc-js'
import { ReportEventsRequest, type ReportedEvent } from '@switchyard/contracts/saga-ingest'
import { createEventId } from './event-id.js'
import type { EncodedEvent, EventOptions } from './events.js'

/** An event with its id, its number and its time, which stay the same in every attempt to send it. */
export interface IdentifiedEvent extends EncodedEvent {
  /** The event in a batch. */
  message: ReportedEvent
  /** Bytes that it takes in a batch. */
  bytes: number
}

/** Largest gRPC message that the reporter takes, in bytes. */
export const messageBytesMax = 4 * 1024 * 1024

/**
 * Gives an event its id.
 *
 * @param sequence number of the event among those of its saga, from 1
 * @throws Error when a text holds what metadata cannot, or the event is too large for one message
 */
export function identify(
  { operation, request }: EncodedEvent,
  { time = new Date(), attempt, tags = {}, traceParent = '', parentSagaId = '' }: EventOptions,
  { sequence, tenant = '' }: { sequence: number; tenant: string | undefined },
): IdentifiedEvent {
  const texts = Object.entries(tags).map(([key, value]) => `${key}=${value}`)
  for (const text of [...texts, traceParent, tenant, parentSagaId])
    if (!/^[ -~]*$/.test(text)) throw new Error(`"${text}" has characters other than printable ASCII`)
  if (parentSagaId.includes(',')) throw new Error(`the parent "${parentSagaId}" has a comma`)
  const about = {
    id: createEventId(),
    seq: sequence,
    time,
    attempt,
    tags: texts,
    tenant,
    traceParent,
    parentSagaId,
  }
  const message: ReportedEvent = { ...about, [operation]: request }
  const bytes = ReportEventsRequest.encode({ events: [message] }).finish().length
  if (bytes > messageBytesMax)
    throw new Error(`it has ${bytes} bytes, and a message may have ${messageBytesMax}`)
  return { operation, request, message, bytes }
}

/** The metadata of a single call, with the fields that a batch has in the event. */
export function metadataOf({
  id,
  seq,
  time,
  attempt,
  tags,
  tenant,
  traceParent,
  parentSagaId,
}: ReportedEvent): Metadata {
  const metadata = new Metadata()
  metadata.set('x-event-id', id)
  metadata.set('x-event-seq', String(seq))
  if (time !== undefined) metadata.set('x-event-time', time.toISOString())
  if (tenant !== '') metadata.set('x-tenant', tenant)
  if (attempt !== undefined) metadata.set('x-attempt', String(attempt))
  for (const tag of tags) metadata.add('x-tag', tag)
  if (traceParent !== '') metadata.set('traceparent', traceParent)
  if (parentSagaId !== '') metadata.set('x-parent-saga-id', parentSagaId)
  return metadata
}
