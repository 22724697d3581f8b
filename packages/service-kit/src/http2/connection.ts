import type { Socket } from 'node:net'
import { ConnectionError, errorCodes } from './error-codes.js'
import { FloodGuard } from './flood-guard.js'
import { FrameReader } from './frame-reader.js'
import { FrameWriter } from './frame-writer.js'
import { frameFlags, frameTypes, int31Max, windowBytesInitial } from './frames.js'
import { HeaderBlocks, withoutPadding } from './header-blocks.js'
import { HpackDecoder } from './hpack-decoder.js'
import type { HpackField } from './hpack-field.js'
import { Outflow } from './outflow.js'
import { type RequestHeaders, readRequestHeaders } from './request-headers.js'
import { limits, ourSettings, readSettings, windowBytesAdded } from './settings.js'
import { Stream, type StreamLink, type StreamReader } from './stream.js'

/**
 * Gives the reader of a new request.
 *
 * @param headers null when they are larger than allowed; nothing is known of the request then
 */
export type AcceptStream = (stream: Stream, headers: RequestHeaders | null) => StreamReader

const goodbyePing = Buffer.from('goodbye!')
const livingPing = Buffer.from('living? ')
/** How long a client may take to learn that no new streams are taken, and to close after the last. */
const goodbyeMsMax = 1000
/** What may wait in a socket before nothing is read from it: a client that does not read gets no more work done. */
const unsentBytesMax = 1024 * 1024

/** The server's side of an HTTP/2 connection: RFC 9113. Only what clients may send is known; there is no push. */
export class Connection implements StreamLink {
  readonly socket: Socket
  readonly writer: FrameWriter
  readonly outflow: Outflow
  /** Since when no stream is open, in milliseconds of `performance.now()`; null while one is. */
  idleSinceMs: number | null = performance.now()
  /** When the last frame came. */
  heardMs = performance.now()
  readonly #accept: AcceptStream
  readonly #reader = new FrameReader((type, flags, id, payload) => this.#onFrame(type, flags, id, payload))
  readonly #blocks = new HeaderBlocks()
  readonly #decoder = new HpackDecoder(limits.headerListBytesMax)
  readonly #floods = new FloodGuard()
  /** A plain object: a Map's outdated layouts would keep what ended calls have left behind. */
  readonly #streams: Record<number, Stream> = Object.create(null)
  #streamCount = 0
  #lastId = 0
  /** The last stream that is served; later ones belong to another connection. */
  #lastServedId = int31Max
  #initialWindow = windowBytesInitial
  #receiveWindow = limits.windowBytes
  #hasSettings = false
  #isDraining = false
  #isOver = false

  constructor(socket: Socket, accept: AcceptStream) {
    this.socket = socket
    this.#accept = accept
    this.writer = new FrameWriter(socket)
    this.outflow = new Outflow(socket)
    socket.setNoDelay(true)
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('drain', () => socket.resume())
    socket.on('error', () => {})
    socket.on('close', () => this.#lose())
    this.writer.write(frameTypes.settings, frameFlags.none, 0, ourSettings)
    this.writer.writeNumber(frameTypes.windowUpdate, 0, windowBytesAdded)
  }

  /** Asks for a sign of life, which `heardMs` shows. */
  ping(): void {
    this.writer.write(frameTypes.ping, frameFlags.none, 0, livingPing)
  }

  /**
   * Takes no new streams and closes after the last. The client is told first, and what it had already sent is
   * served: its answer to a ping shows that no more can be on the way.
   */
  drain(): void {
    if (this.#isDraining || this.#isOver) return
    this.#isDraining = true
    this.#goAway(int31Max, errorCodes.noError)
    this.writer.write(frameTypes.ping, frameFlags.none, 0, goodbyePing)
    setTimeout(() => this.#serveNoMore(), goodbyeMsMax).unref()
  }

  /** Ends the connection and all that is under way on it. */
  destroy(): void {
    this.socket.destroy()
  }

  onClosed(id: number): void {
    delete this.#streams[id]
    this.#streamCount -= 1
    if (this.#streamCount > 0) return
    this.idleSinceMs = performance.now()
    if (this.#lastServedId !== int31Max) this.#end()
  }

  onFault(): void {
    this.#floods.count(performance.now())
  }

  #read(chunk: Buffer): void {
    if (this.#isOver) return
    this.heardMs = performance.now()
    try {
      this.#reader.read(chunk)
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error
      this.#goAway(this.#lastId, error.code)
      this.#end()
    }
    if (this.socket.writableLength > unsentBytesMax) this.socket.pause()
  }

  #onFrame(type: number, flags: number, id: number, payload: Buffer): void {
    if (this.#isOver) return
    if (!this.#hasSettings && type !== frameTypes.settings) throw broken('no settings at first')
    this.#blocks.expect(type, id)
    switch (type) {
      case frameTypes.data:
        this.#onData(flags, id, payload)
        break
      case frameTypes.headers:
      case frameTypes.continuation:
        this.#onHeaders(type, flags, id, payload)
        break
      case frameTypes.windowUpdate:
        this.#onWindowUpdate(id, payload)
        break
      default:
        this.#onOther(type, flags, id, payload)
    }
  }

  /** Frames that are not part of each call. Kinds that are not known are passed over. */
  #onOther(type: number, flags: number, id: number, payload: Buffer): void {
    switch (type) {
      case frameTypes.resetStream:
        this.#onReset(id, payload)
        break
      case frameTypes.settings:
        this.#onSettings(flags, id, payload)
        break
      case frameTypes.ping:
        this.#onPing(flags, id, payload)
        break
      case frameTypes.priority:
        expectShape(payload.length === 5, id !== 0)
        break
      case frameTypes.goAway:
        expectShape(payload.length >= 8, id === 0)
        break
      case frameTypes.pushPromise:
        throw broken('a push by a client')
    }
  }

  #onData(flags: number, id: number, payload: Buffer): void {
    this.#receiveWindow -= payload.length
    // It grows before a client could send more than it, so only the windows of streams can be overrun.
    if (this.#receiveWindow < limits.windowBytes / 2) {
      this.writer.writeNumber(frameTypes.windowUpdate, 0, limits.windowBytes - this.#receiveWindow)
      this.#receiveWindow = limits.windowBytes
    }
    const data = withoutPadding(flags, payload)
    const isEnd = (flags & frameFlags.endStream) !== 0
    if (data.length === 0 && !isEnd) this.#floods.count(performance.now())
    const stream = this.#streamOf(id)
    if (stream === undefined) return
    if (stream.isRemoteEnded) {
      stream.fail(errorCodes.streamClosed)
      return
    }
    stream.receive(data, payload.length)
    if (isEnd && !stream.isClosed) stream.endRemote()
  }

  #onHeaders(type: number, flags: number, id: number, payload: Buffer): void {
    const whole = this.#blocks.add(type, flags, id, payload)
    if (whole === null) return
    // Each block changes the table, also one that nobody reads.
    const fields = this.#decoder.decode(whole.block)
    const stream = this.#streams[id]
    if (stream !== undefined) this.#onTrailers(stream, fields, whole.isEnd)
    else if (id > this.#lastId) {
      this.#lastId = id
      if (id <= this.#lastServedId)
        this.#open(id, fields && readRequestHeaders(fields), fields === null, whole.isEnd)
    }
  }

  #open(id: number, headers: RequestHeaders | null, isTooLarge: boolean, isEnd: boolean): void {
    const isMalformed = headers === null && !isTooLarge
    if (isMalformed || this.#streamCount >= limits.concurrentStreamsMax) {
      this.#floods.count(performance.now())
      const code = isMalformed ? errorCodes.protocolError : errorCodes.refusedStream
      this.writer.writeNumber(frameTypes.resetStream, id, code)
      return
    }
    const stream = new Stream(id, this.#initialWindow, this)
    this.#streams[id] = stream
    this.#streamCount += 1
    this.idleSinceMs = null
    stream.reader = this.#accept(stream, headers)
    if (isEnd && !stream.isClosed) stream.endRemote()
  }

  /** They say nothing here; they only end the request. */
  #onTrailers(stream: Stream, fields: HpackField[] | null, isEnd: boolean): void {
    const areTrailers = isEnd && fields?.every(({ name }) => !name.startsWith(':')) !== false
    if (stream.isRemoteEnded) stream.fail(errorCodes.streamClosed)
    else if (!areTrailers) stream.fail(errorCodes.protocolError)
    else stream.endRemote()
  }

  #onReset(id: number, payload: Buffer): void {
    expectShape(payload.length === 4, id !== 0)
    this.#floods.count(performance.now())
    this.#streamOf(id)?.leave(payload.readUInt32BE())
  }

  #onSettings(flags: number, id: number, payload: Buffer): void {
    const isAck = (flags & frameFlags.ack) !== 0
    expectShape(!isAck || payload.length === 0, id === 0)
    if (!this.#hasSettings && isAck) throw broken('no settings at first')
    this.#hasSettings = true
    if (isAck) return
    this.#floods.count(performance.now())
    const { initialWindow = this.#initialWindow, hasOtherTable } = readSettings(payload)
    const change = initialWindow - this.#initialWindow
    this.#initialWindow = initialWindow
    if (hasOtherTable) this.writer.emptyTable()
    if (change !== 0)
      for (const stream of Object.values(this.#streams)) if (!stream.growWindow(change)) throw tooMuch()
    this.writer.write(frameTypes.settings, frameFlags.ack, 0, empty)
    this.outflow.resume()
  }

  #onPing(flags: number, id: number, payload: Buffer): void {
    expectShape(payload.length === 8, id === 0)
    if ((flags & frameFlags.ack) === 0) this.writer.write(frameTypes.ping, frameFlags.ack, 0, payload)
    else if (this.#isDraining && payload.equals(goodbyePing)) this.#serveNoMore()
  }

  #onWindowUpdate(id: number, payload: Buffer): void {
    expectShape(payload.length === 4, true)
    const bytes = payload.readUInt32BE() & int31Max
    if (id === 0) {
      if (bytes === 0) throw broken('a window that does not grow')
      if (this.outflow.grow(bytes) > int31Max) throw tooMuch()
    } else {
      const stream = this.#streamOf(id)
      if (bytes === 0) stream?.fail(errorCodes.protocolError)
      else if (stream?.growWindow(bytes) === false) stream.fail(errorCodes.flowControlError)
    }
    this.outflow.resume()
  }

  /** @throws ConnectionError when there never was such a stream; undefined when it is over */
  #streamOf(id: number): Stream | undefined {
    if (id === 0 || id > this.#lastId) throw broken('a stream that was not opened')
    return this.#streams[id]
  }

  #serveNoMore(): void {
    if (this.#isOver || this.#lastServedId !== int31Max) return
    this.#lastServedId = this.#lastId
    this.#goAway(this.#lastId, errorCodes.noError)
    if (this.#streamCount === 0) this.#end()
  }

  /** @param lastId the last stream that is served; never more than was said before */
  #goAway(lastId: number, code: number): void {
    const payload = Buffer.alloc(8)
    payload.writeUInt32BE(Math.min(lastId, this.#lastServedId))
    payload.writeUInt32BE(code, 4)
    this.writer.write(frameTypes.goAway, frameFlags.none, 0, payload)
  }

  #end(): void {
    if (this.#isOver) return
    this.#lose()
    this.writer.flush()
    this.socket.end()
    this.socket.resume()
    setTimeout(() => this.socket.destroy(), goodbyeMsMax).unref()
  }

  #lose(): void {
    this.#isOver = true
    for (const stream of Object.values(this.#streams)) stream.leave(errorCodes.cancel)
  }
}

const empty = Buffer.alloc(0)

const broken = (message: string) => new ConnectionError(errorCodes.protocolError, message)
const tooMuch = () => new ConnectionError(errorCodes.flowControlError, 'a window beyond the largest')

function expectShape(isLengthRight: boolean, isIdRight: boolean): void {
  if (!isLengthRight) throw new ConnectionError(errorCodes.frameSizeError, 'a frame of a wrong size')
  if (!isIdRight) throw broken('a frame on a wrong stream')
}
