import type { handleServerStreamingCall } from '@grpc/grpc-js'
import type { WatchSagasRequest, WatchSagasResponse } from '@switchyard/contracts/saga-query'
import { conflict, invalidParameters } from '@switchyard/domain'
import { countedToken } from '@switchyard/domain/access'
import { defaultTenant, operationNames, sagaStatuses } from '@switchyard/domain/saga'
import type { Logger } from '@switchyard/service-kit/observability'
import type { Reader } from '../access/access.js'
import { serverStream } from '../grpc/grpc.js'
import { toEventMessage } from '../shapes/messages.js'
import { refuseNul } from '../shapes/parameters.js'
import { withTenant } from '../tenants.js'
import type { Batch, WatchFilter } from './follow.js'
import type { LiveSagas } from './live.js'

export interface WatchDependencies {
  live: LiveSagas
  /** Longest time in which a client of a stream must read a message. */
  stallMsMax: number
  logger: Logger
}

/** Serves `SagaQuery.WatchSagas`. It ends the stream of a client that does not read a message in time. */
export const createWatchSagas = ({
  live,
  stallMsMax,
  logger,
}: WatchDependencies): handleServerStreamingCall<WatchSagasRequest, WatchSagasResponse> =>
  serverStream<WatchSagasRequest, WatchSagasResponse, Reader>(async function* messages(
    request,
    call,
    signal,
    { caller, address, recheck },
  ) {
    const batches = live.watch({
      kind: 'grpc',
      owner: { token: countedToken(caller), address },
      filter: readWatchFilter(withTenant(request, caller)),
      after: readPosition(request.afterSequence),
      signal,
      recheck,
    })
    let stall: NodeJS.Timeout | undefined
    try {
      for (;;) {
        const { done, value } = await batches.next()
        if (done) return
        for (const message of toMessages(value)) {
          stall = setTimeout(cut, stallMsMax, call)
          yield message
          clearTimeout(stall)
        }
      }
    } finally {
      clearTimeout(stall)
      await batches.return(undefined)
    }
  }, logger)

function cut(call: { emit: (event: 'error', error: Error) => boolean }): void {
  // The stream waits until its connection accepts more; this error ends the wait.
  call.emit('error', conflict('the client reads too slowly: go on from the last sequence'))
}

function toMessages({ entries, sequence, reset }: Batch): WatchSagasResponse[] {
  const events = entries.map((entry) => ({
    sequence: entry.sequence,
    event: toEventMessage(entry),
    reset: false,
  }))
  // The log may have been searched beyond the last matching event.
  return events.at(-1)?.sequence === sequence ? events : [...events, { sequence, event: undefined, reset }]
}

/** @throws DomainError invalid-parameters */
function readWatchFilter(request: WatchSagasRequest): WatchFilter {
  const { serviceName, sagaId, statuses, operations } = request
  const problems = [
    ...(statuses.some((status) => !sagaStatuses.some((known) => known === status)) ? ['statuses'] : []),
    ...(operations.some((name) => !operationNames.some((known) => known === name)) ? ['operations'] : []),
  ]
  if (problems.length > 0)
    throw invalidParameters(problems.map((name) => `${name} does not have a valid value`))
  refuseNul({ tenant: request.tenant, saga_id: sagaId })
  return { tenant: request.tenant || defaultTenant, serviceName, sagaId, statuses, operations }
}

/** @returns null: from now on */
function readPosition(sequence: number | undefined): number | null {
  if (sequence === undefined) return null
  if (sequence < 0) throw invalidParameters(['after_sequence does not have a valid value'])
  return sequence
}
