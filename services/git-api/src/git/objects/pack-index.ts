import { readFileSync } from 'node:fs'
import { UnknownLayout } from './layout.js'

const magic = 0xff744f63
const fanoutStart = 8
const idsStart = fanoutStart + 256 * 4
const idBytes = 20
const trailerBytes = 40
const largeOffset = 0x80000000

/** Where each object of a pack begins; version 2 of the format, the only one written since 2007. */
export class PackIndex {
  readonly bytes: Buffer
  readonly count: number
  readonly #ids: Buffer

  /** @throws UnknownLayout for another version */
  constructor(file: string) {
    this.bytes = readFileSync(file)
    const { bytes } = this
    if (
      bytes.length < idsStart + trailerBytes ||
      bytes.readUInt32BE(0) !== magic ||
      bytes.readUInt32BE(4) !== 2
    )
      throw new UnknownLayout('pack index')
    this.count = bytes.readUInt32BE(idsStart - 4)
    if (bytes.length < idsStart + this.count * 28 + trailerBytes) throw new UnknownLayout('short pack index')
    this.#ids = bytes.subarray(idsStart, idsStart + this.count * idBytes)
  }

  /** @returns offset in the pack; -1 when it is not there */
  find(id: Buffer): number {
    const position = findId(this.bytes, fanoutStart, this.#ids, id)
    if (position < 0) return -1
    const offsets = idsStart + this.count * (idBytes + 4)
    const offset = this.bytes.readUInt32BE(offsets + position * 4)
    if (offset < largeOffset) return offset
    const large = offsets + this.count * 4 + (offset - largeOffset) * 8
    return Number(this.bytes.readBigUInt64BE(large))
  }
}

/**
 * Position of an id in a sorted table, as packs and commit-graphs have it.
 *
 * @param fanout bytes with the fan-out table, from `fanoutAt` on: how many ids begin with at most each byte
 * @returns -1 when it is not there
 */
export function findId(fanout: Buffer, fanoutAt: number, ids: Buffer, id: Buffer): number {
  const first = id[0] ?? 0
  let low = first === 0 ? 0 : fanout.readUInt32BE(fanoutAt + (first - 1) * 4)
  let high = fanout.readUInt32BE(fanoutAt + first * 4)
  const head = id.readUInt32BE(0)
  while (low < high) {
    const middle = (low + high) >>> 1
    const at = middle * idBytes
    const order = head - ids.readUInt32BE(at) || id.compare(ids, at, at + idBytes)
    if (order === 0) return middle
    if (order < 0) high = middle
    else low = middle + 1
  }
  return -1
}
