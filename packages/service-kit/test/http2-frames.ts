import { frameFlags, frameHeaderBytes, frameTypes } from '../src/http2/frames.js'
import { encodeFields } from '../src/http2/index.js'
import { frame as messageOf } from './raw-calls.js'

export interface Frame {
  type: number
  flags: number
  id: number
  payload: Buffer
}

export type Fields = readonly (readonly [name: string, value: string])[]

export const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

export function frameOf(type: number, flags: number, id: number, payload: Buffer | string = ''): Buffer {
  const bytes = Buffer.from(payload)
  const head = Buffer.alloc(frameHeaderBytes)
  head.writeUIntBE(bytes.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(id, 5)
  return Buffer.concat([head, bytes])
}

export function numberOf(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

export const settingsOf = (...settings: [id: number, value: number][]): Buffer =>
  frameOf(
    frameTypes.settings,
    0,
    0,
    Buffer.concat(settings.flatMap(([id, value]) => [Buffer.from([0, id]), numberOf(value)])),
  )

export const settingsAck = frameOf(frameTypes.settings, frameFlags.ack, 0)

/** What a client says before all else. */
export const greeting = Buffer.concat([preface, settingsOf(), settingsAck])

/** The fields of a unary call, or of one of another method. */
export const fieldsOf = (path = '/test.Test/Call', ...more: Fields): Fields => [
  [':method', 'POST'],
  [':scheme', 'http'],
  [':path', path],
  ['content-type', 'application/grpc'],
  ['te', 'trailers'],
  ...more,
]

/** A request whose body is to come, unless the flags say otherwise. */
export const headersOf = (id: number, fields = fieldsOf(), flags: number = frameFlags.endHeaders): Buffer =>
  frameOf(frameTypes.headers, flags, id, encodeFields(fields))

export const dataOf = (id: number, payload: Buffer | string, isEnd = false): Buffer =>
  frameOf(frameTypes.data, isEnd ? frameFlags.endStream : 0, id, payload)

/** A whole call. */
export const callOf = (id: number, text: string, fields?: Fields): Buffer =>
  Buffer.concat([headersOf(id, fields), dataOf(id, messageOf(text), true)])

export const resetOf = (id: number, code: number): Buffer =>
  frameOf(frameTypes.resetStream, 0, id, numberOf(code))

export const windowOf = (id: number, bytes: number): Buffer =>
  frameOf(frameTypes.windowUpdate, 0, id, numberOf(bytes))

export const pingOf = (text = '8 bytes!'): Buffer => frameOf(frameTypes.ping, 0, 0, text)

export const pongOf = (payload: Buffer): Buffer => frameOf(frameTypes.ping, frameFlags.ack, 0, payload)

/** The frames that are whole, and what begins another one. */
export function readFrames(bytes: Buffer): { frames: Frame[]; rest: Buffer } {
  const frames: Frame[] = []
  let at = 0
  while (bytes.length - at >= frameHeaderBytes) {
    const end = at + frameHeaderBytes + bytes.readUIntBE(at, 3)
    if (end > bytes.length) break
    frames.push({
      type: bytes[at + 3] ?? 0,
      flags: bytes[at + 4] ?? 0,
      id: bytes.readUInt32BE(at + 5),
      payload: bytes.subarray(at + frameHeaderBytes, end),
    })
    at = end
  }
  return { frames, rest: bytes.subarray(at) }
}
