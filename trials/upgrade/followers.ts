import { setTimeout as delay } from 'node:timers/promises'
import { credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { SagaQueryClient, type WatchSagasResponse } from '@switchyard/contracts/saga-query'
import { eventsOf } from '@switchyard/testing'
import { before, type Installation, root } from './installation.js'

/** A client that follows a stream and reconnects when its server ends. */
export interface Follower {
  /** Ids of the received events. */
  seen: Set<string>
  /** Streams that did not begin or end as clients expect, and events that were repeated or out of order. */
  failures: string[]
  connections(): number
  stop(): Promise<void>
}

/** Delay of a reconnect; the services ask browsers for one to five seconds. */
const retryMs = 50

/** Calls `connect` until the follower is stopped. It returns when a stream has ended cleanly. */
function follow(
  connect: (follower: Pick<Follower, 'seen' | 'failures'>, leaving: AbortSignal) => Promise<void>,
): Follower {
  const leaving = new AbortController()
  const told = { seen: new Set<string>(), failures: [] as string[] }
  let connections = 0
  const following = (async () => {
    while (!leaving.signal.aborted) {
      connections += 1
      await connect(told, leaving.signal).catch((error: Error) => {
        if (!leaving.signal.aborted) told.failures.push(String(error.cause ?? error))
      })
      await delay(retryMs)
    }
  })()
  return {
    ...told,
    connections: () => connections,
    stop() {
      leaving.abort()
      return following
    },
  }
}

/** Returns the events of a stream until its end. */
async function openStream(url: string, headers: { [name: string]: string }, signal: AbortSignal) {
  const response = await fetch(url, { headers, signal })
  // A browser does not reconnect after any other status.
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
  return eventsOf(response)
}

const bearing = ({ rootToken }: Installation) => ({ 'PRIVATE-TOKEN': rootToken })

/** A part of the saga log; without a saga, it only has the position from which to continue. */
interface LogPart {
  sequence: number
  sagaId: string | undefined
  /** Whether the server reports that its log ends before the position of the follower. */
  isReset: boolean
}

/** Follows the saga log from its beginning, and records the ids of its sagas. */
function followLog(read: (after: number, leaving: AbortSignal) => AsyncIterable<LogPart>): Follower {
  let last = 0
  return follow(async ({ seen, failures }, leaving) => {
    for await (const { sequence, sagaId, isReset } of read(last, leaving)) {
      if (isReset) failures.push(`the log begins anew at ${sequence}`)
      if (sagaId !== undefined && sequence <= last) failures.push(`${sequence} came after ${last}`)
      if (sagaId !== undefined) seen.add(sagaId)
      last = sequence
    }
  })
}

/** Follows the saga log as server-sent events. */
export const followSagaEvents = (installation: Installation): Follower =>
  followLog(async function* read(after, leaving) {
    const headers = { ...bearing(installation), 'Last-Event-ID': String(after) }
    for await (const event of await openStream(`${installation.url}/api/v4/sagas/stream`, headers, leaving)) {
      if (event.id === undefined) continue
      const { saga_id } = JSON.parse(event.data) as { saga_id?: string }
      yield { sequence: Number(event.id), sagaId: saga_id, isReset: event.event === 'reset' }
    }
  })

/**
 * Statuses with which a stream may end with its server. The previous release may cut a sending stream, which
 * nginx turns into INTERNAL.
 */
const endsOfServers = before === root ? [status.UNAVAILABLE] : [status.UNAVAILABLE, status.INTERNAL]

/** Follows the saga log over gRPC. */
export function watchSagas(installation: Installation): Follower {
  const client = new SagaQueryClient(installation.grpcAddress, credentials.createInsecure())
  const metadata = new Metadata()
  metadata.set('private-token', installation.rootToken)
  const follower = followLog(async function* read(after, leaving) {
    const request = { tenant: '', statuses: [], operations: [], afterSequence: after }
    const stream = client.watchSagas(request, metadata)
    leaving.addEventListener('abort', () => stream.cancel())
    try {
      for await (const { sequence, event, reset } of stream as AsyncIterable<WatchSagasResponse>)
        yield { sequence, sagaId: event?.sagaId, isReset: reset }
    } catch (error) {
      if (!endsOfServers.includes((error as ServiceError).code)) throw error
    }
  })
  return {
    ...follower,
    async stop() {
      await follower.stop()
      client.close()
    },
  }
}

interface Message {
  id: number
}

/** Follows broadcast messages, and records the ids of the received ones. */
export const followMessages = (installation: Installation): Follower =>
  follow(async ({ seen }, leaving) => {
    const url = `${installation.url}/api/v4/broadcast_messages/stream`
    for await (const { data } of await openStream(url, {}, leaving)) {
      const told = JSON.parse(data) as Partial<Message> & { messages?: Message[] }
      for (const { id } of told.messages ?? []) seen.add(String(id))
      if (told.id !== undefined) seen.add(String(told.id))
    }
  })

/** Follows the metrics of job queues. Each event is the whole state. */
export const followFigures = (installation: Installation): Follower =>
  follow(async ({ failures }, leaving) => {
    const url = `${installation.url}/api/v4/jobqueue/stream`
    for await (const { event, data } of await openStream(url, bearing(installation), leaving))
      if (event !== undefined && event !== 'metrics' && event !== 'ping') failures.push(`${event} ${data}`)
  })
