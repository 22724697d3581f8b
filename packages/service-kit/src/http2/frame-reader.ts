import { ConnectionError, errorCodes } from './error-codes.js'
import { frameHeaderBytes, payloadBytesMax } from './frames.js'

/** Told of each frame. The payload is a part of what was read, and is not copied. */
export type OnFrame = (type: number, flags: number, streamId: number, payload: Buffer) => void

/** What a client sends first: RFC 9113, section 3.4. */
const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

/** Divides what a client sends into frames. */
export class FrameReader {
  readonly #onFrame: OnFrame
  #isGreeted = false
  /** The beginning of a frame whose end has not come. */
  #rest: Buffer | null = null

  constructor(onFrame: OnFrame) {
    this.#onFrame = onFrame
  }

  /** @throws ConnectionError when it is no HTTP/2 or a frame is too large */
  read(chunk: Buffer): void {
    const bytes = this.#rest === null ? chunk : Buffer.concat([this.#rest, chunk])
    this.#rest = null
    let at = 0
    if (!this.#isGreeted) {
      const isPreface = preface.subarray(0, bytes.length).equals(bytes.subarray(0, preface.length))
      if (!isPreface) throw new ConnectionError(errorCodes.protocolError, 'no HTTP/2')
      if (bytes.length < preface.length) {
        this.#rest = bytes
        return
      }
      this.#isGreeted = true
      at = preface.length
    }
    this.#readFrames(bytes, at)
  }

  #readFrames(bytes: Buffer, from: number): void {
    let at = from
    while (bytes.length - at >= frameHeaderBytes) {
      const length = bytes.readUIntBE(at, 3)
      if (length > payloadBytesMax)
        throw new ConnectionError(errorCodes.frameSizeError, `a frame of ${length} bytes`)
      const start = at + frameHeaderBytes
      const end = start + length
      if (end > bytes.length) break
      const streamId = bytes.readUInt32BE(at + 5) & 0x7fff_ffff
      this.#onFrame(bytes[at + 3] as number, bytes[at + 4] as number, streamId, bytes.subarray(start, end))
      at = end
    }
    if (at < bytes.length) this.#rest = bytes.subarray(at)
  }
}
