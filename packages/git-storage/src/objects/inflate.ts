import { constants, createInflate, inflateSync } from 'node:zlib'
import { UnknownLayout } from './layout.js'

/**
 * Inflates an object whose size is known.
 *
 * @param input compressed bytes, with whatever follows them
 * @returns null when the input ends too early
 * @throws UnknownLayout for another size; what zlib says of damaged bytes
 */
export function inflateObject(input: Buffer, size: number): Buffer | null {
  return inflateAgain(input, size) ?? inflateAnew(input, size)
}

/** Node's own stream around zlib, with what its synchronous functions use of it. */
interface Inflater {
  _handle?: {
    reset?(): void
    writeSync?(
      flush: number,
      input: Buffer,
      inputAt: number,
      inputLength: number,
      output: Buffer,
      outputAt: number,
      outputLength: number,
    ): void
  } | null
  /** What is left of output and input after a write. */
  _writeState?: Uint32Array
}

/** What went wrong is found again, and told, by who inflates anew. */
const createInflater = () => createInflate().on('error', () => {}) as Inflater

let inflater = createInflater()

/**
 * By one stream for all objects: making one takes twice as long as inflating a commit.
 *
 * @returns null for all that is not as expected
 */
function inflateAgain(input: Buffer, size: number): Buffer | null {
  // Damaged bytes end a stream for good.
  if (!inflater._handle) inflater = createInflater()
  const { _handle: handle, _writeState: left } = inflater
  if (!handle?.reset || !handle.writeSync || !(left instanceof Uint32Array)) return null
  // One byte more than wanted shows what is too long.
  const output = Buffer.allocUnsafe(size + 1)
  left[0] = 0
  handle.reset()
  handle.writeSync(constants.Z_FINISH, input, 0, input.length, output, 0, output.length)
  return left[0] === 1 ? output.subarray(0, size) : null
}

function inflateAnew(input: Buffer, size: number): Buffer | null {
  try {
    const content = inflateSync(input, {
      maxOutputLength: Math.max(1, size),
      chunkSize: Math.max(64, size + 1),
    })
    if (content.length !== size) throw new UnknownLayout('object of another size')
    return content
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'Z_BUF_ERROR') return null
    throw error
  }
}
