import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { LRUCache } from 'lru-cache'
import { UnknownLayout } from './layout.js'

const magic = 0xff744f63
const fanoutAt = 8
const idsAt = fanoutAt + 256 * 4
const idBytes = 20
const checksumBytes = 4
const offsetBytes = 4
const trailerBytes = 40
const largeOffset = 0x80000000
/** The ids that begin with the same byte, and where their objects begin. */
interface Bucket {
  ids: Buffer
  offsets: Buffer
}

/** What is kept of the indexes of a repository, all together, by the number of the index and the first byte. */
export type Buckets = LRUCache<number, Bucket>

/** @param bytesMax of all of them */
export const createBuckets = (bytesMax: number): Buckets =>
  new LRUCache({ maxSize: bytesMax, sizeCalculation: ({ ids, offsets }) => ids.length + offsets.length })

let indexes = 0

/**
 * Where each object of a pack begins; version 2 of the format, the only one written since 2007. Its parts are read when
 * they are first needed: an index may have hundreds of megabytes.
 */
export class PackIndex {
  readonly #file: number
  readonly #fanout: Buffer
  readonly #count: number
  readonly #buckets: Buckets
  /** Of its first bucket: no two indexes have the same. */
  readonly #firstKey: number

  /** @throws UnknownLayout for another version */
  constructor(path: string, buckets: Buckets) {
    this.#buckets = buckets
    this.#firstKey = indexes * 256
    indexes += 1
    this.#file = openSync(path, 'r')
    try {
      const header = this.#read(0, idsAt)
      if (header.readUInt32BE(0) !== magic || header.readUInt32BE(4) !== 2)
        throw new UnknownLayout('pack index')
      this.#fanout = header.subarray(fanoutAt)
      this.#count = header.readUInt32BE(idsAt - 4)
      const bytes = this.#offsetsAt + this.#count * offsetBytes + trailerBytes
      if (fstatSync(this.#file).size < bytes) throw new UnknownLayout('short pack index')
    } catch (error) {
      this.close()
      throw error
    }
  }

  close(): void {
    for (let byte = 0; byte < 256; byte += 1) this.#buckets.delete(this.#firstKey + byte)
    closeSync(this.#file)
  }

  /** @returns offset in the pack; -1 when it is not there */
  find(id: Buffer): number {
    const bucket = this.#bucketOf(id[0] ?? 0)
    if (bucket === null) return -1
    const position = findAmong(bucket.ids, 0, bucket.ids.length / idBytes, id)
    if (position < 0) return -1
    const offset = bucket.offsets.readUInt32BE(position * offsetBytes)
    if (offset < largeOffset) return offset
    const large = this.#offsetsAt + this.#count * offsetBytes + (offset - largeOffset) * 8
    return Number(this.#read(large, 8).readBigUInt64BE())
  }

  /** Behind the ids stands a checksum of each object, and behind those where they begin. */
  get #offsetsAt(): number {
    return idsAt + this.#count * (idBytes + checksumBytes)
  }

  /** @returns null when no id begins so */
  #bucketOf(firstByte: number): Bucket | null {
    const known = this.#buckets.get(this.#firstKey + firstByte)
    if (known) return known
    const [low, high] = rangeOf(this.#fanout, firstByte)
    if (low === high) return null
    const bucket = {
      ids: this.#read(idsAt + low * idBytes, (high - low) * idBytes),
      offsets: this.#read(this.#offsetsAt + low * offsetBytes, (high - low) * offsetBytes),
    }
    this.#buckets.set(this.#firstKey + firstByte, bucket)
    return bucket
  }

  #read(at: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafeSlow(length)
    if (readSync(this.#file, bytes, 0, length, at) !== length) throw new UnknownLayout('short pack index')
    return bytes
  }
}

/**
 * Position of an id in a sorted table, as commit-graphs have it.
 *
 * @param fanout how many ids begin with at most each byte
 * @returns -1 when it is not there
 */
export function findId(fanout: Buffer, ids: Buffer, id: Buffer): number {
  const [low, high] = rangeOf(fanout, id[0] ?? 0)
  return findAmong(ids, low, high, id)
}

/** Where the ids begin and end that begin with this byte. */
function rangeOf(fanout: Buffer, firstByte: number): [low: number, high: number] {
  const low = firstByte === 0 ? 0 : fanout.readUInt32BE((firstByte - 1) * 4)
  return [low, fanout.readUInt32BE(firstByte * 4)]
}

function findAmong(ids: Buffer, from: number, to: number, id: Buffer): number {
  let low = from
  let high = to
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
