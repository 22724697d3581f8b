import { connect, type Socket } from 'node:net'
import { fillIds, type Template } from './traces.js'

const frameHeader = 9
const types = { data: 0, headers: 1, rst: 3, settings: 4, ping: 6, goaway: 7, windowUpdate: 8 } as const
const endStream = 0x1
const endHeaders = 0x4
const ack = 0x1

/** A request with all its frames; each call only changes ids and stream numbers. */
interface Frames {
  bytes: Buffer
  messageAt: number
  dataAt: number
}

const bufferBytes = 1 << 16
const nothing: Buffer = Buffer.alloc(0)

/**
 * A small HTTP/2 client for single calls. It writes encoded requests and reads the frames of the answers. The
 * client of @grpc/grpc-js takes twice the CPU time of its server for each call, so the load generator would
 * be the limit. Buffers are reused, so that the client's garbage collection does not delay answers.
 */
export class H2Client {
  readonly #socket: Socket
  /** Buffers that the socket has written. */
  readonly #written: Buffer[] = []
  readonly #onAnswer: (slot: number, ok: boolean) => void
  readonly #frames = new Map<Template, Frames>()
  /** Slot by stream, and whether its message has arrived. */
  readonly #slotOf = new Map<number, number>()
  readonly #answered = new Set<number>()
  /** The first request defines the headers to which all later requests refer. */
  #nextStream = 3
  #received = nothing
  #out: Buffer = Buffer.allocUnsafe(bufferBytes)
  #outEnd = 0
  #consumed = 0
  #isAnswer: (message: Buffer, start: number, end: number) => boolean

  private constructor(
    socket: Socket,
    authority: string,
    isAnswer: (message: Buffer, start: number, end: number) => boolean,
    onAnswer: (slot: number, ok: boolean) => void,
  ) {
    this.#socket = socket
    this.#onAnswer = onAnswer
    this.#isAnswer = isAnswer
    socket.setNoDelay(true)
    const settings = frame(types.settings, 0, 0, Buffer.from([0, 4, 0x7f, 0xff, 0xff, 0xff]))
    const window = frame(types.windowUpdate, 0, 0, uint32(0x7fff0000))
    const first = frame(types.headers, endHeaders | endStream, 1, firstHeaders(authority))
    socket.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), settings, window, first]))
  }

  static async open(
    port: number,
    isAnswer: (message: Buffer, start: number, end: number) => boolean,
    onAnswer: (slot: number, ok: boolean) => void,
  ): Promise<H2Client> {
    let client: H2Client | undefined
    const callback = (bytes: number, buffer: Uint8Array): boolean => {
      if (!client) throw new Error('the server sent data before the client was ready')
      client.#read(Buffer.from(buffer.buffer, buffer.byteOffset, bytes))
      client.flush()
      return true
    }
    const onread = { buffer: Buffer.allocUnsafe(bufferBytes), callback }
    const socket = connect({ port, host: '127.0.0.1', onread })
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve)
      socket.once('error', reject)
    })
    socket.on('error', () => {})
    client = new H2Client(socket, `127.0.0.1:${port}`, isAnswer, onAnswer)
    return client
  }

  /** Adds a request to the next write; its answer is reported with the same slot. */
  send(slot: number, template: Template, runDigits: string, saga: number): void {
    const { bytes, messageAt, dataAt } = this.#framesOf(template)
    if (this.#outEnd + bytes.length > this.#out.length) this.flush()
    const start = this.#outEnd
    bytes.copy(this.#out, start)
    this.#out.writeUInt32BE(this.#nextStream, start + 5)
    this.#out.writeUInt32BE(this.#nextStream, start + dataAt + 5)
    fillIds(this.#out, start + messageAt, template, runDigits, saga)
    this.#outEnd += bytes.length
    this.#slotOf.set(this.#nextStream, slot)
    this.#nextStream += 2
  }

  flush(): void {
    if (this.#outEnd === 0) return
    const given = this.#out
    this.#socket.write(given.subarray(0, this.#outEnd), () => this.#written.push(given))
    this.#out = this.#written.pop() ?? Buffer.allocUnsafe(bufferBytes)
    this.#outEnd = 0
  }

  close(): void {
    this.#socket.destroy()
  }

  #framesOf(template: Template): Frames {
    const known = this.#frames.get(template)
    if (known) return known
    const headers = frame(types.headers, endHeaders, 0, headersOf(template.path))
    const prefix = Buffer.concat([Buffer.from([0]), uint32(template.message.length)])
    const data = frame(types.data, endStream, 0, Buffer.concat([prefix, template.message]))
    const bytes = Buffer.concat([headers, data])
    const frames = { bytes, dataAt: headers.length, messageAt: headers.length + frameHeader + 5 }
    this.#frames.set(template, frames)
    return frames
  }

  #read(chunk: Buffer): void {
    const bytes = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk])
    let at = 0
    while (at + frameHeader <= bytes.length) {
      const end = at + frameHeader + bytes.readUIntBE(at, 3)
      if (end > bytes.length) break
      this.#frame(bytes, at, end)
      at = end
    }
    this.#received = at === bytes.length ? nothing : Buffer.from(bytes.subarray(at))
    if (this.#consumed > 1 << 20) {
      this.#socket.write(frame(types.windowUpdate, 0, 0, uint32(this.#consumed)))
      this.#consumed = 0
    }
  }

  #frame(bytes: Buffer, at: number, end: number): void {
    const type = bytes[at + 3]
    const flags = bytes[at + 4] as number
    const stream = bytes.readUInt32BE(at + 5) & 0x7fffffff
    const body = at + frameHeader
    if (type === types.data) {
      this.#consumed += end - body
      if (end > body && this.#isAnswer(bytes, body + 5, end)) this.#answered.add(stream)
      if (flags & endStream) this.#finish(stream)
    } else if (type === types.headers) {
      if (flags & endStream) this.#finish(stream)
    } else if (type === types.rst) this.#finish(stream)
    else if (type === types.settings && !(flags & ack)) {
      this.#socket.write(frame(types.settings, ack, 0, Buffer.alloc(0)))
    } else if (type === types.ping && !(flags & ack)) {
      this.#socket.write(frame(types.ping, ack, 0, Buffer.from(bytes.subarray(body, end))))
    } else if (type === types.goaway) throw new Error('the server ended the connection')
  }

  #finish(stream: number): void {
    const slot = this.#slotOf.get(stream)
    if (slot === undefined) return
    this.#slotOf.delete(stream)
    this.#onAnswer(slot, this.#answered.delete(stream))
  }
}

function frame(type: number, flags: number, stream: number, body: Buffer): Buffer {
  const header = Buffer.alloc(frameHeader)
  header.writeUIntBE(body.length, 0, 3)
  header[3] = type
  header[4] = flags
  header.writeUInt32BE(stream, 5)
  return Buffer.concat([header, body])
}

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** HPACK: names of the static table; every value except the path is in the dynamic table. */
const pathName = Buffer.from([0x83, 0x86, 0x04])
const text = (value: string) => Buffer.concat([Buffer.from([value.length]), Buffer.from(value)])

/** Returns a request for an unknown method, which puts the constant headers into HPACK's dynamic table. */
const firstHeaders = (authority: string): Buffer =>
  Buffer.concat([
    pathName,
    text('/switchyard.bench/None'),
    Buffer.from([0x41]),
    text(authority),
    Buffer.from([0x7a]),
    text('grpc-switchyard-bench/1.0'),
    Buffer.from([0x5f]),
    text('application/grpc'),
    Buffer.from([0x40]),
    text('te'),
    text('trailers'),
  ])

/** Returns the path, and the last four entries of the dynamic table, oldest first. */
const headersOf = (path: string): Buffer =>
  Buffer.concat([pathName, text(path), Buffer.from([0x80 | 65, 0x80 | 64, 0x80 | 63, 0x80 | 62])])
