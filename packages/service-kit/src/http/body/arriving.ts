import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { timedOut } from '@switchyard/domain'
import pTimeout from 'p-timeout'

/** The slowest pace at which a body may arrive. */
export interface Pace {
  /** Length of the periods that are measured, and the longest time without a byte. */
  periodMs: number
  /** Fewest bytes that arrive in each period, unless the body ends in it. */
  periodBytesMin: number
}

const refuseSlow = (): never => {
  throw timedOut()
}

/**
 * Yields the chunks of a body as they arrive. Only the time spent waiting for the sender counts; the reader
 * may take any time over a chunk. A reader that stops early leaves the rest of the body unread and the
 * connection open.
 *
 * @param signal ends the wait for chunks with its reason
 * @throws DomainError timed-out when the body arrives too slowly; the reason of the signal
 */
export async function* arriving(
  request: IncomingMessage,
  { periodMs, periodBytesMin }: Pace,
  signal?: AbortSignal,
): AsyncGenerator<Buffer, void> {
  // A separate stream can be abandoned without closing the connection, which the answer needs.
  const body = new PassThrough()
  request.once('error', (error) => body.destroy(error))
  const abort = () => body.destroy(signal?.reason)
  signal?.addEventListener('abort', abort)
  const chunks = request.pipe(body).iterator()
  let [waitedMs, bytes] = [0, 0]
  try {
    signal?.throwIfAborted()
    for (;;) {
      const startedMs = performance.now()
      const { done, value } = await pTimeout(chunks.next(), { milliseconds: periodMs, fallback: refuseSlow })
      if (done) return
      waitedMs += performance.now() - startedMs
      bytes += value.length
      if (waitedMs >= periodMs) {
        if (bytes < periodBytesMin) throw timedOut()
        waitedMs = 0
        bytes = 0
      }
      yield value
    }
  } finally {
    signal?.removeEventListener('abort', abort)
    body.destroy()
  }
}
