import type { IncomingMessage } from 'node:http'
import { pipeline, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { DomainError, invalidParameters } from '@switchyard/domain'
import type { RequestHandler } from 'express'
import { arriving, type Pace } from './arriving.js'
import type { BodyMemory } from './body-memory.js'
import { bodyTooLarge } from './bounds.js'

const decompressors: Record<string, () => Transform> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

export interface ReceiveOptions {
  /** Largest body, decompressed. */
  bytesMax: number
  pace: Pace
  memory: BodyMemory
}

/**
 * Receives a whole body, decompressed, as the chunks in which it came. Bytes are counted when they arrive,
 * not when they are announced.
 *
 * @throws DomainError too-large; invalid-parameters for broken compression; unsupported-media-type for an
 * unknown one; rate-limited or unavailable when there is no memory for it; timed-out when its sender falls
 * silent
 */
export async function receiveBody(
  request: IncomingMessage,
  { bytesMax, pace, memory }: ReceiveOptions,
): Promise<{ chunks: Buffer[]; bytes: number }> {
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw bodyTooLarge()
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of decompressed(request, pace)) {
    bytes += chunk.length
    if (bytes > bytesMax) throw bodyTooLarge()
    await memory.take(chunk.length)
    chunks.push(chunk)
  }
  return { chunks, bytes }
}

async function* decompressed(request: IncomingMessage, pace: Pace): AsyncGenerator<Buffer> {
  const encoding = request.headers['content-encoding']?.toLowerCase() ?? 'identity'
  const chunks = arriving(request, pace)
  if (encoding === 'identity') return yield* chunks
  const decompressor = decompressors[encoding]?.()
  if (!decompressor) throw new DomainError('unsupported-media-type', 'the body could not be read')
  try {
    // The loop below throws every failure of the pipeline.
    yield* pipeline(chunks, decompressor, () => {}) as AsyncIterable<Buffer>
  } catch (error) {
    if (error instanceof DomainError || request.errored) throw error
    throw invalidParameters(['the body could not be read'])
  }
}

/** Time for which a client may continue to send the body of a refused request. */
const unreadMsMax = 60_000

/**
 * Reads the rest of a body after the answer, because the rest precedes the next request of the connection,
 * and because some clients read an answer only after they have sent everything. Closes the connection when
 * the body does not end.
 */
export const endUnreadBody: RequestHandler = (request, response, next) => {
  response.once('finish', () => {
    if (request.complete) return
    const timer = setTimeout(() => request.socket.destroy(), unreadMsMax)
    request.once('close', () => clearTimeout(timer))
    request.unpipe().resume()
  })
  next()
}
