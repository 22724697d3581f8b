import type { ServerWritableStream } from '@grpc/grpc-js'
import type { WatchSagasRequest, WatchSagasResponse } from '@switchyard/contracts/saga-query'
import { conflict } from '@switchyard/domain'
import type { AuthorizeReader } from '../access/authorize-reader.js'
import type { Batch } from '../live/follow.js'
import type { LiveSagas } from '../live/live-sagas.js'
import { toEventMessage } from '../presenters/saga-messages.js'
import { asUnavailable } from '../use-cases/as-unavailable.js'
import { readPosition, readWatchFilter } from '../wire/query-requests.js'
import { type AdmittedReader, withTenant } from './reader-admission.js'
import type { Admission } from './server/admission.js'
import type { StreamMessages } from './server/server-stream.js'

export interface WatchDependencies {
  live: LiveSagas
  authorize: AuthorizeReader
  admission: Admission<AdmittedReader>
  /** How long a client of a stream may read no message. */
  stallMsMax: number
}

type Call = ServerWritableStream<WatchSagasRequest, WatchSagasResponse>

/** The messages of WatchSagas. The stream of a client that does not read a message in time ends. */
export function createWatchMessages({
  live,
  authorize,
  admission,
  stallMsMax,
}: WatchDependencies): StreamMessages<WatchSagasRequest, WatchSagasResponse> {
  return async function* messages(request, call, signal) {
    const { caller, credentials } = admission.of(call)
    const batches = live.watch({
      kind: 'grpc',
      owner: { token: caller.token.id, address: credentials.address },
      filter: readWatchFilter(withTenant(request, caller)),
      after: readPosition(request.afterSequence),
      signal,
      recheck: () => authorize(credentials),
    })
    try {
      for (;;) {
        const { done, value } = await asUnavailable(batches.next())
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
  // The stream waits until its connection takes more; this error ends the wait.
  call.emit('error', conflict('the client reads too slowly: go on from the last sequence'))
}

function toMessages({ entries, sequence, reset }: Batch): WatchSagasResponse[] {
  const events = entries.map((entry) => ({
    sequence: entry.sequence,
    event: toEventMessage(entry),
    reset: false,
  }))
  // The log may have been searched beyond the last event that passes the filter.
  return events.at(-1)?.sequence === sequence ? events : [...events, { sequence, event: undefined, reset }]
}
