import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { CommonResponse } from '@switchyard/contracts/saga'
import type { EncodedEvent, EventOptions } from './events.js'
import type { Settings } from './options.js'

/** An event with what stays the same however often it is sent. */
export interface IdentifiedEvent extends EncodedEvent {
  /** All but the token, which may change. */
  metadata: Metadata
}

export type Answer = { response: CommonResponse } | { error: ServiceError }

export interface Transport {
  /** One attempt; never rejects. */
  send: (event: IdentifiedEvent) => Promise<Answer>
  close: () => void
}

const sameBytes = (bytes: Buffer) => bytes

export function createTransport(settings: Settings): Transport {
  const client = new Client(settings.address, channelCredentials(settings), {
    'grpc.keepalive_time_ms': 60_000,
    'grpc.initial_reconnect_backoff_ms': settings.retryDelayMs,
    'grpc.max_reconnect_backoff_ms': settings.retryDelayMsMax,
    // Events keep their id and are repeated here, where ids and hints are known.
    'grpc.enable_retries': 0,
  })
  return {
    send: (event) =>
      new Promise<Answer>((resolve) => {
        client.makeUnaryRequest(
          event.path,
          sameBytes,
          (bytes: Buffer) => CommonResponse.decode(bytes),
          event.bytes,
          withToken(event.metadata, settings),
          { deadline: Date.now() + settings.deadlineMs },
          (error, response) => resolve(error || !response ? { error: error as ServiceError } : { response }),
        )
      }).catch((error: unknown) => ({ error: failureOf(error) })),
    close: () => client.close(),
  }
}

/** What fails before the network, such as a token that cannot be got. */
const failureOf = (error: unknown): ServiceError =>
  Object.assign(new Error(String(error)), {
    code: status.UNKNOWN,
    details: String(error),
    metadata: new Metadata(),
  })

function channelCredentials({ tls }: Settings) {
  if (tls === undefined) return credentials.createInsecure()
  if (tls === true) return credentials.createSsl()
  return credentials.createSsl(tls.ca ?? null, tls.key ?? null, tls.cert ?? null)
}

function withToken(metadata: Metadata, { token }: Settings): Metadata {
  if (token === undefined) return metadata
  const complete = metadata.clone()
  complete.set('authorization', `Bearer ${typeof token === 'string' ? token : token()}`)
  return complete
}

/**
 * What goes beside the event.
 *
 * @param sequence number of the event among those of its saga, from 1
 * @throws Error when a tag holds what metadata cannot
 */
export function metadataOf(
  { time = new Date(), attempt, tags = {}, traceParent }: EventOptions,
  { id, sequence, tenant }: { id: string; sequence: number; tenant: string | undefined },
): Metadata {
  const metadata = new Metadata()
  metadata.set('x-event-id', id)
  metadata.set('x-event-seq', String(sequence))
  metadata.set('x-event-time', time.toISOString())
  if (tenant !== undefined) metadata.set('x-tenant', tenant)
  if (attempt !== undefined) metadata.set('x-attempt', String(attempt))
  for (const [key, value] of Object.entries(tags)) metadata.add('x-tag', `${key}=${value}`)
  if (traceParent !== undefined) metadata.set('traceparent', traceParent)
  return metadata
}
