import { once } from 'node:events'
import { DomainError, type ErrorKind } from '@switchyard/domain'
import { type Call, eventStreamHeaders } from '@switchyard/service-kit/http'
import type { Batch } from '../live/follow.js'
import { presentLogEntry } from '../presenters/log-entry.js'

type Response = Call['raw']['response']

/** Clients reconnect after a random time in this range, so that not all reconnect at once. */
const retryMs = { least: 1000, spread: 2000 }

/**
 * Sends pieces of the log as server-sent events until there are no more. A client that reads nothing for `stallMsMax`
 * is disconnected; when it connects again, it continues after its last event.
 *
 * @throws what the first piece throws, before anything is sent
 */
export async function sendEvents(
  response: Response,
  batches: AsyncGenerator<Batch>,
  stallMsMax: number,
): Promise<void> {
  const first = await batches.next()
  response.writeHead(200, eventStreamHeaders)
  const retry = Math.round(retryMs.least + Math.random() * retryMs.spread)
  response.write(`retry: ${retry}\n: connected\n`)
  try {
    for (let { value, done } = first; !done; { value, done } = await batches.next()) {
      if (!response.write(textOf(value)) && !(await drains(response, stallMsMax))) return
    }
    response.end(closing(unavailable))
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    response.end(closing(reasons[error.kind] ?? '403 Forbidden'))
  } finally {
    await batches.return(undefined)
  }
}

/** A part without events is a `ping` with the position from which the client continues after a reconnect. */
function textOf({ entries, sequence, reset }: Batch): string {
  if (reset) return `event: reset\nid: ${sequence}\ndata: ${JSON.stringify({ seq: sequence })}\n\n`
  const events = entries.map(
    (entry) => `id: ${entry.sequence}\ndata: ${JSON.stringify(presentLogEntry(entry))}\n\n`,
  )
  return events.length > 0 ? events.join('') : `: heartbeat\nid: ${sequence}\nevent: ping\ndata: {}\n\n`
}

const unavailable = '503 Service Unavailable'
const reasons: { [kind in ErrorKind]?: string } = { unauthenticated: '401 Unauthorized', unavailable }

const closing = (message: string) => `event: close\ndata: ${JSON.stringify({ message })}\n\n`

/** Waits until the client has read what was sent; a client that does not read is disconnected. */
async function drains(response: Response, stallMsMax: number): Promise<boolean> {
  const waiting = new AbortController()
  const stall = setTimeout(() => response.destroy(), stallMsMax)
  const gone = () => waiting.abort()
  response.once('close', gone)
  if (response.destroyed) gone()
  try {
    await once(response, 'drain', { signal: waiting.signal })
    return true
  } catch {
    return false
  } finally {
    clearTimeout(stall)
    response.off('close', gone)
  }
}
