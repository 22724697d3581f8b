import { createHash } from 'node:crypto'

/** The offset of an object in a pack, and the checksum of its packed bytes. */
export interface PackEntry {
  id: string
  offset: number
  crc: number
}

const idBytes = 20
/** Largest offset in the main table. Larger offsets are stored in a separate table. */
const nearOffsetMax = 0x7fffffff

/** Returns the content of a pack index, version 2 (gitformat-pack). */
export function formatPackIndex(entries: readonly PackEntry[], packChecksum: Buffer): Buffer {
  const sorted = [...entries].sort((a, b) => (a.id < b.id ? -1 : 1))
  const far = sorted.filter(({ offset }) => offset > nearOffsetMax)
  const ids = Buffer.from(sorted.map(({ id }) => id).join(''), 'hex')
  const crcs = Buffer.alloc(sorted.length * 4)
  const offsets = Buffer.alloc(sorted.length * 4)
  const farOffsets = Buffer.alloc(far.length * 8)
  for (const [index, { crc, offset }] of sorted.entries()) {
    crcs.writeUInt32BE(crc, index * 4)
    if (offset <= nearOffsetMax) offsets.writeUInt32BE(offset, index * 4)
  }
  for (const [index, entry] of far.entries()) {
    farOffsets.writeBigUInt64BE(BigInt(entry.offset), index * 8)
    offsets.writeUInt32BE(0x80000000 + index, sorted.indexOf(entry) * 4)
  }
  const header = Buffer.from([0xff, 0x74, 0x4f, 0x63, 0, 0, 0, 2])
  const body = Buffer.concat([header, fanout(ids), ids, crcs, offsets, farOffsets, packChecksum])
  return Buffer.concat([body, createHash('sha1').update(body).digest()])
}

/** Returns, for each byte, the number of ids whose first byte is not greater. */
function fanout(ids: Buffer): Buffer {
  const counts = new Uint32Array(256)
  for (let at = 0; at < ids.length; at += idBytes) counts[ids[at] ?? 0] = (counts[ids[at] ?? 0] ?? 0) + 1
  const table = Buffer.alloc(256 * 4)
  let sum = 0
  for (const [byte, count] of counts.entries()) {
    sum += count
    table.writeUInt32BE(sum, byte * 4)
  }
  return table
}
