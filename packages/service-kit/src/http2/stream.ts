import { errorCodes } from './error-codes.js'
import type { FrameWriter } from './frame-writer.js'
import { frameFlags, frameTypes, int31Max, payloadBytesMax } from './frames.js'
import type { Outflow } from './outflow.js'
import { limits } from './settings.js'

/** Told what becomes of a request. */
export interface StreamReader {
  /** A part of the body. The stream is to be told once it is used, or the peer sends no more than a window. */
  onData(bytes: Buffer): void
  /** The request is whole. */
  onEnd(): void
  /** The peer wants no answer any more, or cannot get one; `code` says why. */
  onLeave(code: number): void
  /** What was written has been sent, after a `write` that asked to wait. */
  onDrain?(): void
}

/** Reads nothing: of a request that is answered or given up already. */
export const noReader: StreamReader = { onData: () => {}, onEnd: () => {}, onLeave: () => {} }

/** What a stream needs of its connection. */
export interface StreamLink {
  readonly writer: FrameWriter
  readonly outflow: Outflow
  /** The stream is closed on both sides, or was reset. */
  onClosed(id: number): void
  /**
   * The peer broke a rule on a stream, which ended it.
   *
   * @throws ConnectionError when it does so all the time
   */
  onFault(): void
}

/** One request and its answer: RFC 9113, section 5.1. */
export class Stream {
  readonly id: number
  /** Nothing can be sent any more, and nothing comes. */
  isClosed = false
  isRemoteEnded = false
  reader: StreamReader | null = null
  readonly #link: StreamLink
  #sendWindow: number
  #receiveWindow = limits.windowBytes
  #usedBytes = 0
  #isLocalEnded = false
  #pending: Buffer[] = []
  #trailers: Buffer | null = null

  constructor(id: number, sendWindow: number, link: StreamLink) {
    this.id = id
    this.#sendWindow = sendWindow
    this.#link = link
  }

  /** Sends a header block; with `isEnd`, it is the whole answer. */
  respond(block: Buffer, isEnd = false): void {
    if (this.isClosed || this.#isLocalEnded) return
    this.#link.writer.writeHeaders(this.id, block, isEnd)
    if (isEnd) this.#endLocal()
  }

  /** @returns whether more may be written at once; else `onDrain` tells when */
  write(bytes: Buffer): boolean {
    if (this.isClosed || bytes.length === 0) return true
    this.#pending.push(bytes)
    if (this.#pending.length === 1) this.#send()
    return this.#pending.length === 0
  }

  /** Ends the answer with these trailers, after all that was written. */
  end(trailers: Buffer): void {
    if (this.isClosed) return
    this.#trailers = trailers
    if (this.#pending.length === 0) this.#sendTrailers()
  }

  /** Gives the call up; the reader is not told. */
  reset(code: number): void {
    if (this.isClosed) return
    this.#link.writer.writeNumber(frameTypes.resetStream, this.id, code)
    this.#close()
  }

  /** So many bytes of the body are used, so the peer may send as many more. */
  use(bytes: number): void {
    this.#usedBytes += bytes
    if (this.#usedBytes < limits.windowBytes / 2 || this.isRemoteEnded || this.isClosed) return
    this.#link.writer.writeNumber(frameTypes.windowUpdate, this.id, this.#usedBytes)
    this.#receiveWindow += this.#usedBytes
    this.#usedBytes = 0
  }

  /** @param bytes what the frame takes of the window; padding is not in its data */
  receive(data: Buffer, bytes: number): void {
    this.#receiveWindow -= bytes
    if (this.#receiveWindow < 0) {
      this.fail(errorCodes.flowControlError)
      return
    }
    if (bytes > data.length) this.use(bytes - data.length)
    if (data.length > 0) this.reader?.onData(data)
  }

  endRemote(): void {
    this.isRemoteEnded = true
    this.reader?.onEnd()
  }

  /** The peer broke a rule, which ends this stream alone. */
  fail(code: number): void {
    this.reset(code)
    this.reader?.onLeave(code)
    this.#link.onFault()
  }

  /** The peer gave it up, or its connection is lost. */
  leave(code: number): void {
    if (this.isClosed) return
    this.#close()
    this.reader?.onLeave(code)
  }

  /** @returns whether the window stays within what is allowed */
  growWindow(bytes: number): boolean {
    this.#sendWindow += bytes
    if (this.#sendWindow > int31Max) return false
    if (this.#sendWindow > 0 && this.#pending.length > 0) this.#link.outflow.wait(this)
    return true
  }

  /** Sends one frame of what is pending, and waits for another turn if there is more. */
  sendFrame(): void {
    if (this.isClosed || !this.#sendPart()) return
    if (this.#pending.length > 0) this.#link.outflow.wait(this)
    else this.#finish()
  }

  #send(): void {
    while (this.#pending.length > 0) if (!this.#sendPart()) return
  }

  /** @returns whether there was room */
  #sendPart(): boolean {
    const part = this.#pending[0] as Buffer
    const { writer, outflow } = this.#link
    if (this.#sendWindow <= 0) return false
    const bytes = Math.min(part.length, payloadBytesMax, this.#sendWindow, outflow.bytesFree)
    if (bytes <= 0) {
      outflow.wait(this)
      return false
    }
    if (bytes === part.length) this.#pending.shift()
    else this.#pending[0] = part.subarray(bytes)
    this.#sendWindow -= bytes
    outflow.take(bytes)
    writer.write(
      frameTypes.data,
      frameFlags.none,
      this.id,
      bytes === part.length ? part : part.subarray(0, bytes),
    )
    return true
  }

  #finish(): void {
    if (this.#trailers !== null) this.#sendTrailers()
    else this.reader?.onDrain?.()
  }

  #sendTrailers(): void {
    this.#link.writer.writeHeaders(this.id, this.#trailers as Buffer, true)
    this.#endLocal()
  }

  /** A peer that still sends is told that nobody reads it: RFC 9113, section 8.1. */
  #endLocal(): void {
    this.#isLocalEnded = true
    if (this.isRemoteEnded) this.#close()
    else this.reset(errorCodes.noError)
  }

  #close(): void {
    this.isClosed = true
    this.#pending = []
    this.#link.outflow.leave(this)
    this.#link.onClosed(this.id)
  }
}
