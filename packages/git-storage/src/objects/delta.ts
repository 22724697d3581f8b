import { DamagedObject } from './fallbacks.js'

/**
 * Reconstructs an object from its base and a delta (gitformat-pack, "Deltified representation").
 *
 * @throws DamagedObject when the delta does not fit the base
 */
export function applyDelta(base: Buffer, delta: Buffer): Buffer {
  const from = { at: 0 }
  if (readSize(delta, from) !== base.length) throw new DamagedObject('delta of another base')
  const result = Buffer.allocUnsafe(readSize(delta, from))
  let written = 0
  while (from.at < delta.length) {
    const command = byteAt(delta, from)
    if ((command & 0x80) === 0) {
      if (command === 0 || from.at + command > delta.length) throw new DamagedObject('malformed delta')
      written += delta.copy(result, written, from.at, from.at + command)
      from.at += command
      continue
    }
    const offset = readCopyNumber(delta, from, command, 4)
    const size = readCopyNumber(delta, from, command >> 4, 3) || 0x10000
    if (offset + size > base.length) throw new DamagedObject('malformed delta')
    written += base.copy(result, written, offset, offset + size)
  }
  if (written !== result.length) throw new DamagedObject('malformed delta')
  return result
}

export interface Cursor {
  at: number
}

/** The byte at the cursor, which moves on. @throws DamagedObject at the end of the bytes */
export function byteAt(bytes: Buffer, cursor: Cursor): number {
  const byte = bytes[cursor.at]
  if (byte === undefined) throw new DamagedObject('object ends early')
  cursor.at += 1
  return byte
}

function readSize(bytes: Buffer, cursor: Cursor): number {
  let size = 0
  let factor = 1
  for (;;) {
    const byte = byteAt(bytes, cursor)
    size += (byte & 0x7f) * factor
    if (byte < 0x80) return size
    factor *= 128
  }
}

/** Reads a little-endian number. `bits` tells which of its bytes are present; absent bytes are zero. */
function readCopyNumber(bytes: Buffer, cursor: Cursor, bits: number, count: number): number {
  let value = 0
  for (let index = 0; index < count; index += 1) {
    if ((bits >> index) & 1) value += byteAt(bytes, cursor) * 2 ** (8 * index)
  }
  return value
}
