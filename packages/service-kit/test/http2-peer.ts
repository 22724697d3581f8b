import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { frameFlags, frameTypes } from '../src/http2/frames.js'
import { HpackDecoder } from '../src/http2/hpack-decoder.js'
import { type Frame, greeting, pingOf, readFrames } from './http2-frames.js'

/** What came back on a stream until its end. */
export interface PeerAnswer {
  headers: Record<string, string>
  trailers: Record<string, string>
  body: Buffer
  /** Of gRPC. */
  status: string | undefined
  /** Of the reset that ended it; null when it ended in order. */
  resetCode: number | null
}

/** A client that sends whatever bytes it is given, and keeps the frames that come back. */
export class Peer {
  readonly socket: Socket
  readonly frames: Frame[] = []
  isClosed = false
  readonly #decoder = new HpackDecoder(1024 * 1024)
  readonly #blocks = new Map<Frame, Record<string, string>>()
  #rest: Buffer = Buffer.alloc(0)
  #pings = 0

  constructor(socket: Socket) {
    this.socket = socket
    socket.on('error', () => {})
    socket.on('close', () => {
      this.isClosed = true
      socket.emit('news')
    })
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
  }

  send(...parts: Buffer[]): void {
    this.socket.write(Buffer.concat(parts))
  }

  /** Waits for what the frames so far, or the end of the connection, make of it. */
  async until<Result>(find: () => Result | null | undefined | false): Promise<Result> {
    for (;;) {
      const found = find()
      if (found !== null && found !== undefined && found !== false) return found
      if (this.isClosed)
        throw new Error(`the connection has ended, with ${this.goAwayCodes().join() || 'nothing'}`)
      await once(this.socket, 'news')
    }
  }

  /** All that was sent before has been read, and answered as far as it could be. */
  async sync(): Promise<void> {
    const payload = Buffer.from(String(this.#pings++).padStart(8))
    this.send(pingOf(String(payload)))
    await this.until(() =>
      this.frames.some(
        (frame) =>
          frame.type === frameTypes.ping && frame.flags === frameFlags.ack && frame.payload.equals(payload),
      ),
    )
  }

  async closed(): Promise<void> {
    await this.until(() => this.isClosed)
  }

  /** The codes with which the server has said that it goes, in their order. */
  goAwayCodes(): number[] {
    return this.ofType(frameTypes.goAway).map(({ payload }) => payload.readUInt32BE(4))
  }

  ofType(type: number, id?: number): Frame[] {
    return this.frames.filter((frame) => frame.type === type && (id === undefined || frame.id === id))
  }

  /** How many bytes of a stream's body have come, or of all streams'. */
  bytesOf(id?: number): number {
    return this.ofType(frameTypes.data, id).reduce((sum, { payload }) => sum + payload.length, 0)
  }

  answer(id: number): Promise<PeerAnswer> {
    return this.until(() => this.#answerOf(id))
  }

  /** Forgets the frames so far. */
  clear(): void {
    this.frames.length = 0
    this.#blocks.clear()
  }

  close(): void {
    this.socket.destroy()
  }

  #answerOf(id: number): PeerAnswer | null {
    const frames = this.frames.filter((frame) => frame.id === id)
    const reset = frames.find(({ type }) => type === frameTypes.resetStream)
    const isEnded = frames.some(
      ({ type, flags }) =>
        (type === frameTypes.data || type === frameTypes.headers) && (flags & frameFlags.endStream) !== 0,
    )
    if (!isEnded && reset === undefined) return null
    const blocks = frames.map((frame) => this.#blocks.get(frame)).filter((block) => block !== undefined)
    const [headers = {}, trailers = {}] = blocks
    const body = Buffer.concat(this.ofType(frameTypes.data, id).map(({ payload }) => payload))
    const status = trailers['grpc-status'] ?? headers['grpc-status']
    return {
      headers,
      trailers,
      body,
      status,
      resetCode: isEnded ? null : (reset?.payload.readUInt32BE() ?? null),
    }
  }

  #read(chunk: Buffer): void {
    const { frames, rest } = readFrames(Buffer.concat([this.#rest, chunk]))
    this.#rest = rest
    for (const frame of frames) {
      this.frames.push(frame)
      if (frame.type === frameTypes.headers) this.#blocks.set(frame, this.#fieldsOf(frame))
    }
    this.socket.emit('news')
  }

  #fieldsOf({ payload }: Frame): Record<string, string> {
    const fields = this.#decoder.decode(payload) ?? []
    return Object.fromEntries(fields.map(({ name, value }) => [name, value]))
  }
}

/** A connection that has said what every client says first, or one that has said nothing. */
export async function connectPeer(port: number, first: Buffer = greeting): Promise<Peer> {
  const socket = connect(port, '127.0.0.1')
  const peer = new Peer(socket)
  await once(socket, 'connect')
  if (first.length > 0) peer.send(first)
  return peer
}
