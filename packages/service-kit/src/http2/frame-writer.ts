import type { Socket } from 'node:net'
import { frameFlags, frameHeaderBytes, frameTypes, payloadBytesMax } from './frames.js'

const bufferBytes = 64 * 1024
const freeBuffersMax = 64

/** Says that the table of fields has no room: RFC 7541, section 6.3. */
const noTable = Buffer.from([0x20])

/** Shared by all connections: one that is silent needs none. New ones for each write would be garbage of the costly kind. */
const freeBuffers: Buffer[] = []

/** Gathers the frames that are written in one turn of the event loop, and sends them as one. */
export class FrameWriter {
  readonly #socket: Socket
  #buffer: Buffer | null = null
  #used = 0
  #saysTable = false

  constructor(socket: Socket) {
    this.#socket = socket
  }

  /** @param payload is copied; no longer than a frame may be */
  write(type: number, flags: number, streamId: number, payload: Buffer): void {
    const length = payload.length
    const buffer = this.#room(frameHeaderBytes + length)
    const at = this.#used
    buffer.writeUIntBE(length, at, 3)
    buffer[at + 3] = type
    buffer[at + 4] = flags
    buffer.writeUInt32BE(streamId, at + 5)
    buffer.set(payload, at + frameHeaderBytes)
    this.#used = at + frameHeaderBytes + length
  }

  /** Begins the next header block as a reader expects it that may keep another table: RFC 7541, section 4.2. */
  emptyTable(): void {
    this.#saysTable = true
  }

  /** Writes a header block that uses no table but the static one, in as many frames as it needs. */
  writeHeaders(streamId: number, fields: Buffer, isEnd: boolean): void {
    const block = this.#saysTable ? Buffer.concat([noTable, fields]) : fields
    this.#saysTable = false
    const endFlag = isEnd ? frameFlags.endStream : frameFlags.none
    if (block.length <= payloadBytesMax) {
      this.write(frameTypes.headers, frameFlags.endHeaders | endFlag, streamId, block)
      return
    }
    this.write(frameTypes.headers, endFlag, streamId, block.subarray(0, payloadBytesMax))
    for (let at = payloadBytesMax; at < block.length; at += payloadBytesMax) {
      const isLast = at + payloadBytesMax >= block.length
      const flags = isLast ? frameFlags.endHeaders : frameFlags.none
      this.write(frameTypes.continuation, flags, streamId, block.subarray(at, at + payloadBytesMax))
    }
  }

  writeNumber(type: number, streamId: number, value: number): void {
    const payload = Buffer.allocUnsafe(4)
    payload.writeUInt32BE(value)
    this.write(type, frameFlags.none, streamId, payload)
  }

  /** Sends at once what was written so far. */
  flush(): void {
    const buffer = this.#buffer
    if (buffer === null) return
    this.#buffer = null
    this.#socket.write(buffer.subarray(0, this.#used), (error) => {
      // What could not be sent may still be held by the system.
      if (!error && freeBuffers.length < freeBuffersMax) freeBuffers.push(buffer)
    })
  }

  #room(bytes: number): Buffer {
    if (this.#buffer !== null && this.#used + bytes > bufferBytes) this.flush()
    if (this.#buffer === null) {
      this.#buffer = freeBuffers.pop() ?? Buffer.allocUnsafeSlow(bufferBytes)
      this.#used = 0
      process.nextTick(flush, this)
    }
    return this.#buffer
  }
}

const flush = (writer: FrameWriter): void => writer.flush()
