import { promisify } from 'node:util'
import { inflate, inflateSync, type ZlibOptions } from 'node:zlib'
import { DamagedObject } from './fallbacks.js'

const inflateInThread = promisify<Buffer, ZlibOptions, Buffer>(inflate)

/** Up to this size, inflating takes less time than the hand-over to another thread. */
const inflatedSynchronouslyBytesMax = 64 * 1024

/**
 * Inflates an object whose size is known.
 *
 * @param input compressed bytes, and any bytes after them
 * @returns null when the input ends too early
 * @throws DamagedObject when the size differs or zlib refuses the bytes
 */
export async function inflateObject(input: Buffer, size: number): Promise<Buffer | null> {
  const options = { maxOutputLength: Math.max(1, size), chunkSize: Math.max(64, size + 1) }
  try {
    const content =
      size <= inflatedSynchronouslyBytesMax
        ? inflateSync(input, options)
        : await inflateInThread(input, options)
    if (content.length !== size) throw new DamagedObject('object of another size')
    return content
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? ''
    if (code === 'Z_BUF_ERROR') return null
    if (code.startsWith('Z_') || code === 'ERR_BUFFER_TOO_LARGE')
      throw new DamagedObject((error as Error).message, { cause: error })
    throw error
  }
}
