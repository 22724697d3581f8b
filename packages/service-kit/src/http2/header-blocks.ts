import { ConnectionError, errorCodes } from './error-codes.js'
import { frameFlags, frameTypes } from './frames.js'

const priorityBytes = 5
/** Enough for twice the largest list of fields; more is an attack: RFC 9113, section 10.5.1. */
const framesMax = 8

/** A header block whose end has come. */
export interface WholeBlock {
  block: Buffer
  /** Whether the request ends with it. */
  isEnd: boolean
}

/** Puts the header blocks of a connection together. Nothing may come between the parts of one. */
export class HeaderBlocks {
  #id = 0
  #isEnd = false
  #parts: Buffer[] = []

  /** @throws ConnectionError when such a frame may not come now */
  expect(type: number, id: number): void {
    const isWithin = this.#id !== 0
    const isPart = type === frameTypes.continuation
    if (isWithin !== isPart || (isWithin && id !== this.#id))
      throw new ConnectionError(errorCodes.protocolError, 'a header block in disorder')
  }

  /**
   * @param type HEADERS or CONTINUATION
   * @returns null while parts are to come
   * @throws ConnectionError when the frame is malformed or the block too large
   */
  add(type: number, flags: number, id: number, payload: Buffer): WholeBlock | null {
    if (type === frameTypes.headers) this.#begin(flags, id, payload)
    else if (this.#parts.push(payload) > framesMax)
      throw new ConnectionError(errorCodes.enhanceYourCalm, 'a header block of too many frames')
    if ((flags & frameFlags.endHeaders) === 0) return null
    this.#id = 0
    const [first, ...more] = this.#parts
    return { block: more.length > 0 ? Buffer.concat(this.#parts) : (first as Buffer), isEnd: this.#isEnd }
  }

  #begin(flags: number, id: number, payload: Buffer): void {
    if (id % 2 === 0)
      throw new ConnectionError(errorCodes.protocolError, 'a stream of a client with an even number')
    const fragment = withoutPadding(flags, payload)
    const skipped = (flags & frameFlags.priority) === 0 ? 0 : priorityBytes
    if (fragment.length < skipped) throw new ConnectionError(errorCodes.frameSizeError, 'half a priority')
    this.#id = id
    this.#isEnd = (flags & frameFlags.endStream) !== 0
    this.#parts = [fragment.subarray(skipped)]
  }
}

/**
 * The payload of a DATA or HEADERS frame without what fills it up.
 *
 * @throws ConnectionError when there is more padding than payload
 */
export function withoutPadding(flags: number, payload: Buffer): Buffer {
  if ((flags & frameFlags.padded) === 0) return payload
  const padding = payload[0]
  if (padding === undefined || padding >= payload.length)
    throw new ConnectionError(errorCodes.protocolError, 'more padding than payload')
  return payload.subarray(1, payload.length - padding)
}
