import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { StallGuard } from './stall-guard.js'

export interface SendOptions {
  /** Time after which a client that reads nothing is disconnected. */
  idleMs: number
  signal?: AbortSignal | undefined
  /** Transforms the bytes before they are sent. */
  transform?: ((source: AsyncIterable<Buffer>) => AsyncIterable<Buffer>) | undefined
}

/**
 * Sends a stream to a client, in bounded memory. The caller ends the stream to the client.
 *
 * @throws Error when the source ends early, or the client disconnects; the reason of the signal when it is
 * aborted
 */
export async function sendToClient(
  source: Readable,
  output: Writable,
  { idleMs, signal, transform }: SendOptions,
): Promise<void> {
  const guard = new StallGuard(
    idleMs,
    () => output.writableNeedDrain,
    () => output.destroy(),
  )
  source.on('data', () => guard.moved())
  const options = { end: false, ...(signal && { signal }) }
  try {
    if (transform) await pipeline(source, transform, output, options)
    else await pipeline(source, output, options)
  } finally {
    guard.stop()
  }
}
