import type { ServerWritableStream } from '@grpc/grpc-js'
import type { WatchSagasRequest, WatchSagasResponse } from '@switchyard/contracts/saga-query'
import { conflict, invalidParameters } from '@switchyard/domain'
import { defaultTenant, sagaStatuses } from '@switchyard/domain/saga'
import type { StreamMessages } from '@switchyard/service-kit/grpc'
import type { Batch } from '../live/follow.js'
import type { LiveSagas } from '../live/live-sagas.js'
import { sagaOperations } from '../live/operations.js'
import type { WatchFilter } from '../live/watch-filter.js'
import { toEventMessage } from '../presenters/saga-messages.js'
import type { AuthorizeReader } from './authorize-reader.js'
import { refuseWhileAway } from './while-away.js'

export interface WatchDependencies {
  live: LiveSagas
  authorize: AuthorizeReader
  /** How long a client of a stream may take no message. */
  stallMsMax: number
}

type Call = ServerWritableStream<WatchSagasRequest, WatchSagasResponse>

/** Messages of WatchSagas. One that its client does not take in time ends the stream: it goes on later from there. */
export function createWatchMessages({
  live,
  authorize,
  stallMsMax,
}: WatchDependencies): StreamMessages<WatchSagasRequest, WatchSagasResponse> {
  return async function* messages(request, call, signal) {
    await authorize(call)
    const filter = toFilter(request)
    const after = toPosition(request.afterSequence)
    const batches = live.watch({ kind: 'grpc', filter, after, signal, recheck: () => authorize(call) })
    try {
      for (;;) {
        const { done, value } = await refuseWhileAway(batches.next())
        if (done) return
        for (const message of toMessages(value)) {
          const stall = setTimeout(cut, stallMsMax, call)
          yield message
          clearTimeout(stall)
        }
      }
    } finally {
      await batches.return(undefined)
    }
  }
}

function cut(call: Call): void {
  // The stream waits for its connection to take more, and is woken by this.
  call.emit('error', conflict('the client reads too slowly: go on from the last sequence'))
}

function toFilter(request: WatchSagasRequest): WatchFilter {
  const { serviceName, sagaId, statuses, operations } = request
  const problems = [
    ...(statuses.some((status) => !sagaStatuses.some((known) => known === status)) ? ['statuses'] : []),
    ...(operations.some((name) => !sagaOperations.some((known) => known === name)) ? ['operations'] : []),
  ]
  if (problems.length > 0)
    throw invalidParameters(problems.map((name) => `${name} does not have a valid value`))
  const tenant = request.tenant || defaultTenant
  if (`${tenant}${sagaId ?? ''}`.includes('\0')) throw invalidParameters(['tenant or saga_id is invalid'])
  return { tenant, serviceName, sagaId, statuses, operations }
}

function toPosition(sequence: number | undefined): number | null {
  if (sequence === undefined) return null
  if (sequence < 0) throw invalidParameters(['after_sequence does not have a valid value'])
  return sequence
}

function toMessages({ entries, sequence, reset }: Batch): WatchSagasResponse[] {
  const events = entries.map((entry) => ({
    sequence: entry.sequence,
    event: toEventMessage(entry),
    reset: false,
  }))
  // The log may have been looked through further than to its last event that is wanted.
  return events.at(-1)?.sequence === sequence ? events : [...events, { sequence, event: undefined, reset }]
}
