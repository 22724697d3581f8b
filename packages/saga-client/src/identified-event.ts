import { randomBytes } from 'node:crypto'
import { Metadata } from '@grpc/grpc-js'
import { ReportEventsRequest, type ReportedEvent } from '@switchyard/contracts/saga-ingest'
import type { EncodedEvent, EventOptions } from './events.js'

/** An event with its id, its number and its time, which are equal in every attempt to send it. */
export interface IdentifiedEvent extends EncodedEvent {
  /** The event in the form of a batch. */
  message: ReportedEvent
  /** Bytes of the event in a batch. */
  bytes: number
}

/** Largest gRPC message that the reporter accepts, in bytes. */
export const messageBytesMax: number = 4 * 1024 * 1024

/** Creates a UUID of version 7: the time in milliseconds, then random bits. Later ids sort later. */
export function createEventId(nowMs: number = Date.now()): string {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(nowMs, 0, 6)
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f)
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f)
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

/**
 * Gives an event its id.
 *
 * @param sequence number of the event among those of its saga, from 1
 * @throws Error when the event is too large for one message
 */
export function identify(
  { operation, request }: EncodedEvent,
  { time, attempt, tags, traceParent, parentSagaId }: EventOptions,
  { sequence, tenant }: { sequence: number; tenant: string | undefined },
): IdentifiedEvent {
  const about = {
    id: createEventId(),
    seq: sequence,
    time: time ?? new Date(),
    attempt: attempt ?? undefined,
    tags: Object.entries(tags ?? {}).map(([key, value]) => `${key}=${value}`),
    tenant: tenant ?? '',
    traceParent: traceParent ?? '',
    parentSagaId: parentSagaId ?? '',
  }
  const message: ReportedEvent = { ...about, [operation]: request }
  const bytes = ReportEventsRequest.encode({ events: [message] }).finish().length
  if (bytes > messageBytesMax)
    throw new Error(`it has ${bytes} bytes, and a message may have ${messageBytesMax}`)
  return { operation, request, message, bytes }
}

/** Text that a header carries unchanged: printable ASCII without blanks around it. */
const plainText = /^(?:[!-~](?:[ -~]*[!-~])?)?$/
/** Text that would end a value: a comma, and in a tag only a comma before a further `key=`. */
const endOfValue = { tags: /,[^=,]{1,64}=/, tenant: /,/, parentSagaId: /,/ }

/**
 * Returns the metadata of a single call, with the fields that an event has in a batch.
 *
 * @throws Error when metadata would change a field
 */
export function metadataOf(message: ReportedEvent): Metadata {
  const { id, seq, time, attempt, tags, tenant, traceParent, parentSagaId } = message
  for (const [name, end] of Object.entries(endOfValue))
    for (const text of [message[name as keyof typeof endOfValue]].flat())
      if (!plainText.test(text) || end.test(text))
        throw new Error(
          `the reporter takes no batches, and ${name} has characters that metadata would change`,
        )
  const metadata = new Metadata()
  metadata.set('x-event-id', id)
  metadata.set('x-event-seq', String(seq))
  if (time !== undefined) metadata.set('x-event-time', time.toISOString())
  if (tenant !== '') metadata.set('x-tenant', tenant)
  if (attempt !== undefined) metadata.set('x-attempt', String(attempt))
  for (const tag of tags) metadata.add('x-tag', tag)
  if (plainText.test(traceParent) && traceParent !== '') metadata.set('traceparent', traceParent)
  if (parentSagaId !== '') metadata.set('x-parent-saga-id', parentSagaId)
  return metadata
}

/**
 * Returns the metadata of a batch: its tenant, by which a gateway routes, unless metadata would change the
 * name.
 */
export function tenantMetadata(tenant = ''): Metadata {
  const metadata = new Metadata()
  const isSame = plainText.test(tenant) && !endOfValue.tenant.test(tenant)
  if (tenant !== '' && isSame) metadata.set('x-tenant', tenant)
  return metadata
}
