import { once } from 'node:events'
import { connect } from 'node:net'

/** Types and flags of frames according to RFC 9113. */
const types = { data: 0, headers: 1, resetStream: 3, settings: 4, ping: 6, goAway: 7, continuation: 9 }
const flags = { ack: 1, endStream: 1, endHeaders: 4 }
const frameHeaderBytes = 9
const frameBytesMax = 16_384

function frameOf(type: number, flag: number, id: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(frameHeaderBytes)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flag
  head.writeUInt32BE(id, 5)
  return Buffer.concat([head, payload])
}

export type Fields = readonly (readonly [name: string, value: string])[]

/**
 * Encodes a text of HPACK (RFC 7541) without compression: its length with a prefix of 7 bits, and its bytes.
 */
function textOf(text: string): Buffer {
  const bytes = Buffer.from(text)
  const length: number[] = []
  if (bytes.length < 127) length.push(bytes.length)
  else {
    length.push(127)
    let rest = bytes.length - 127
    for (; rest >= 128; rest = Math.floor(rest / 128)) length.push((rest % 128) + 128)
    length.push(rest)
  }
  return Buffer.concat([Buffer.from(length), bytes])
}

/** Encodes a header block of literal fields without indexing. */
const blockOf = (fields: Fields): Buffer =>
  Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0]), textOf(name), textOf(value)]))

export const callFields = (path: string, ...more: Fields): Fields => [
  [':method', 'POST'],
  [':scheme', 'http'],
  [':authority', 'localhost'],
  [':path', path],
  ['content-type', 'application/grpc'],
  ['te', 'trailers'],
  ...more,
]

/** Encodes the headers of a call whose message follows, in as many frames as needed. */
export function headersOf(id: number, fields: Fields): Buffer {
  const block = blockOf(fields)
  const parts = Array.from({ length: Math.max(1, Math.ceil(block.length / frameBytesMax)) }, (_, index) =>
    block.subarray(index * frameBytesMax, (index + 1) * frameBytesMax),
  )
  return Buffer.concat(
    parts.map((part, index) => {
      const type = index === 0 ? types.headers : types.continuation
      return frameOf(type, index === parts.length - 1 ? flags.endHeaders : 0, id, part)
    }),
  )
}

export const dataOf = (id: number, payload: Buffer, isEnd = false): Buffer =>
  frameOf(types.data, isEnd ? flags.endStream : 0, id, payload)

export const cancelOf = (id: number): Buffer => frameOf(types.resetStream, 0, id, Buffer.from([0, 0, 0, 8]))

export const settingsOf = (flag = 0): Buffer => frameOf(types.settings, flag, 0, Buffer.alloc(0))

export const pingOf = (): Buffer => frameOf(types.ping, 0, 0, Buffer.from('8 bytes!'))

/** Encodes an empty part of a header block that does not end. */
export const continuationOf = (id: number, part: Buffer): Buffer => frameOf(types.continuation, 0, id, part)

/** Encodes a part of a header block whose end does not follow yet. */
export const openHeadersOf = (id: number, fields: Fields): Buffer =>
  frameOf(types.headers, 0, id, blockOf(fields))

/** Opens a client that sends any bytes. */
export async function connectFrames(port: number) {
  const socket = connect(port, '127.0.0.1')
  let isClosed = false
  let received: Buffer = Buffer.alloc(0)
  const seen: { type: number; flag: number; id: number }[] = []
  socket.on('error', () => {})
  socket.on('close', () => {
    isClosed = true
  })
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    while (received.length >= frameHeaderBytes) {
      const end = frameHeaderBytes + received.readUIntBE(0, 3)
      if (received.length < end) return
      const frame = { type: received[3] ?? 0, flag: received[4] ?? 0, id: received.readUInt32BE(5) }
      seen.push(frame)
      // The server enforces the limits of its settings once the client has confirmed them.
      if (frame.type === types.settings && !(frame.flag & flags.ack)) socket.write(settingsOf(flags.ack))
      received = received.subarray(end)
    }
  })
  await once(socket, 'connect')
  socket.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), settingsOf()]))
  const headersFor = (id: number) => seen.filter((frame) => frame.id === id && frame.type === types.headers)
  return {
    socket,
    send: (...parts: Buffer[]) => socket.write(Buffer.concat(parts)),
    isClosed: () => isClosed,
    /** Returns whether the server has announced the end of the connection, or has ended it. */
    isSentAway: () => isClosed || seen.some(({ type }) => type === types.goAway),
    /** Returns whether a stream has been answered completely. */
    isEnded: (id: number) => headersFor(id).some(({ flag }) => flag & flags.endStream),
    /** Returns whether a stream was answered with headers only, as gRPC refuses calls. */
    isRefused: (id: number) =>
      headersFor(id).length === 1 && headersFor(id).every(({ flag }) => flag & flags.endStream),
    isReset: (id: number) => seen.some((frame) => frame.id === id && frame.type === types.resetStream),
    answers: () => seen.filter(({ type, flag }) => type === types.headers && flag & flags.endStream).length,
    pongs: () => seen.filter(({ type, flag }) => type === types.ping && flag & flags.ack).length,
    close: () => socket.destroy(),
  }
}

export type FrameClient = Awaited<ReturnType<typeof connectFrames>>
