import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { timedOut } from '@switchyard/domain'
import pTimeout from 'p-timeout'

/** How fast a body has to arrive. */
export interface Pace {
  /** Length of the periods that are looked at, and the longest time without a byte. */
  periodMs: number
  /** What each period has to bring at least, unless the body ends in it. */
  periodBytesMin: number
}

const refuseSlow = (): never => {
  throw timedOut()
}

/**
 * The chunks of a body as they arrive. Only time that is spent waiting for the sender counts: the reader of
 * the chunks may take any time over each. A reader that stops early leaves the rest of the body unread and
 * the connection open.
 *
 * @param signal ends the wait for chunks with its reason
 * @throws DomainError timed-out when the body arrives more slowly than it has to; the reason of the signal
 */
export async function* arriving(
  request: IncomingMessage,
  { periodMs, periodBytesMin }: Pace,
  signal?: AbortSignal,
): AsyncGenerator<Buffer, void> {
  // A stream of its own can be given up without closing the connection, which the answer needs.
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
