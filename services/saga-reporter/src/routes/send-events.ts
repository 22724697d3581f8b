import { DomainError, type ErrorKind } from '@switchyard/domain'
import { type Call, EventStream, eventText } from '@switchyard/service-kit/http'
import type { Batch } from '../live/follow.js'
import { presentLogEntry } from '../presenters/log-entry.js'

const retryMs = { least: 1000, most: 3000 }

/**
 * Sends pieces of the log as server-sent events until there are no more. A client that reads nothing for `stallMs`
 * is disconnected; when it connects again, it continues after its last event.
 *
 * @throws what the first piece throws, before anything is sent
 */
export async function sendEvents(
  response: Call['raw']['response'],
  batches: AsyncGenerator<Batch>,
  stallMs: number,
): Promise<void> {
  const first = await batches.next()
  const stream = new EventStream(response, { retryMs, stallMs }, first.done ? '' : textOf(first.value))
  try {
    while (await stream.drained()) {
      const { value, done } = await batches.next()
      if (done) return stream.end(closing(unavailable))
      stream.send(textOf(value))
    }
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    stream.end(closing(reasons[error.kind] ?? '403 Forbidden'))
  } finally {
    await batches.return(undefined)
  }
}

/** A part without events is a `ping` with the position from which the client continues after a reconnect. */
function textOf({ entries, sequence, reset }: Batch): string {
  if (reset) return eventText({ id: sequence, event: 'reset', data: { seq: sequence } })
  if (entries.length === 0) return eventText({ id: sequence, event: 'ping', data: {} })
  return entries.map((entry) => eventText({ id: entry.sequence, data: presentLogEntry(entry) })).join('')
}

const unavailable = '503 Service Unavailable'
const reasons: { [kind in ErrorKind]?: string } = { unauthenticated: '401 Unauthorized', unavailable }

const closing = (message: string) => eventText({ event: 'close', data: { message } })
