import { ConnectionError, errorCodes } from './error-codes.js'
import { int31Max, windowBytesInitial } from './frames.js'

/** Identifiers: RFC 9113, section 6.5.2. */
const ids = {
  headerTableBytes: 0x1,
  enablePush: 0x2,
  concurrentStreamsMax: 0x3,
  initialWindowBytes: 0x4,
  frameBytesMax: 0x5,
  headerListBytesMax: 0x6,
} as const

const settingBytes = 6

/** What clients may do here. */
export const limits = {
  concurrentStreamsMax: 10_000,
  /** Of each stream, and of each connection: a large message then comes without a pause. */
  windowBytes: 1024 * 1024,
  headerListBytesMax: 64 * 1024,
}

/** The payload of our SETTINGS frame. */
export const ourSettings = Buffer.concat([
  setting(ids.concurrentStreamsMax, limits.concurrentStreamsMax),
  setting(ids.initialWindowBytes, limits.windowBytes),
  setting(ids.headerListBytesMax, limits.headerListBytesMax),
])

/** The window of our connection beyond what it is given by itself. */
export const windowBytesAdded = limits.windowBytes - windowBytesInitial

function setting(id: number, value: number): Buffer {
  const bytes = Buffer.alloc(settingBytes)
  bytes.writeUInt16BE(id)
  bytes.writeUInt32BE(value, 2)
  return bytes
}

/** What matters here of a client's SETTINGS. */
export interface ClientSettings {
  /** Of new streams. */
  initialWindow?: number
  /** It may keep another table of fields than before. */
  hasOtherTable: boolean
}

/** @throws ConnectionError when a value is not allowed */
export function readSettings(payload: Buffer): ClientSettings {
  if (payload.length % settingBytes !== 0)
    throw new ConnectionError(errorCodes.frameSizeError, 'half a setting')
  const settings: ClientSettings = { hasOtherTable: false }
  for (let at = 0; at < payload.length; at += settingBytes) {
    const id = payload.readUInt16BE(at)
    const value = payload.readUInt32BE(at + 2)
    if (id === ids.initialWindowBytes) settings.initialWindow = value
    if (id === ids.headerTableBytes) settings.hasOtherTable = true
    const code = faultOf(id, value)
    if (code !== null) throw new ConnectionError(code, `setting ${id} must not be ${value}`)
  }
  return settings
}

function faultOf(id: number, value: number): number | null {
  if (id === ids.enablePush && value > 1) return errorCodes.protocolError
  if (id === ids.initialWindowBytes && value > int31Max) return errorCodes.flowControlError
  if (id === ids.frameBytesMax && (value < 16_384 || value > 0xff_ffff)) return errorCodes.protocolError
  return null
}
