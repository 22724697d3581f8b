import { type FileHandle, open } from 'node:fs/promises'
import { LRUCache } from 'lru-cache'
import { DamagedObject } from './fallbacks.js'
import { UnknownLayout } from './layout.js'

const magic = 0xff744f63
const fanoutAt = 8
const idsAt = fanoutAt + 256 * 4
const idBytes = 20
const checksumBytes = 4
const offsetBytes = 4
const trailerBytes = 40
const largeOffset = 0x80000000

/** The ids with the same first byte, and the offsets of their objects. */
interface Bucket {
  ids: Buffer
  offsets: Buffer
}

/** A cache of the buckets of all indexes of one repository, by 256 × number of the index + first byte. */
export type Buckets = LRUCache<number, Bucket>

/** @param bytesMax memory of all buckets together */
export const createBuckets = (bytesMax: number): Buckets =>
  new LRUCache({ maxSize: bytesMax, sizeCalculation: ({ ids, offsets }) => ids.length + offsets.length })

let indexes = 0

/**
 * Finds the offsets of the objects of a pack (gitformat-pack, "Version 2 pack-*.idx files"). An index may have hundreds of
 * megabytes, so its parts are read when they are needed.
 */
export class PackIndex {
  readonly #file: FileHandle
  readonly #fanout: Buffer
  readonly #count: number
  readonly #buckets: Buckets
  /** Cache key of the first bucket. */
  readonly #firstKey: number
  #closed = false

  private constructor(file: FileHandle, header: Buffer, buckets: Buckets) {
    this.#file = file
    this.#fanout = header.subarray(fanoutAt)
    this.#count = header.readUInt32BE(idsAt - 4)
    this.#buckets = buckets
    this.#firstKey = indexes * 256
    indexes += 1
  }

  /** @throws UnknownLayout for an unsupported version; DamagedObject for a file that ends early */
  static async open(path: string, buckets: Buckets): Promise<PackIndex> {
    const file = await open(path, 'r')
    try {
      const header = await readExactly(file, 0, idsAt)
      if (header.readUInt32BE(0) !== magic || header.readUInt32BE(4) !== 2)
        throw new UnknownLayout('pack index of another version')
      const index = new PackIndex(file, header, buckets)
      const bytes = index.#offsetsAt + index.#count * offsetBytes + trailerBytes
      if ((await file.stat()).size < bytes) throw new DamagedObject('short pack index')
      return index
    } catch (error) {
      await file.close()
      throw error
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    for (let byte = 0; byte < 256; byte += 1) this.#buckets.delete(this.#firstKey + byte)
    await this.#file.close()
  }

  /** @returns offset of an object in the pack; -1 when the pack does not hold it */
  async find(id: Buffer): Promise<number> {
    const bucket = await this.#bucketOf(id[0] ?? 0)
    if (bucket === null) return -1
    const position = findAmong(bucket.ids, 0, bucket.ids.length / idBytes, id)
    if (position < 0) return -1
    const offset = bucket.offsets.readUInt32BE(position * offsetBytes)
    if (offset < largeOffset) return offset
    const large = this.#offsetsAt + this.#count * offsetBytes + (offset - largeOffset) * 8
    return Number((await this.#read(large, 8)).readBigUInt64BE())
  }

  /** The file holds the ids, then the checksums of all objects, then the offsets. */
  get #offsetsAt(): number {
    return idsAt + this.#count * (idBytes + checksumBytes)
  }

  /** @returns null when no id begins with this byte */
  async #bucketOf(firstByte: number): Promise<Bucket | null> {
    const known = this.#buckets.get(this.#firstKey + firstByte)
    if (known) return known
    const [low, high] = rangeOf(this.#fanout, firstByte)
    if (low === high) return null
    const [ids, offsets] = await Promise.all([
      this.#read(idsAt + low * idBytes, (high - low) * idBytes),
      this.#read(this.#offsetsAt + low * offsetBytes, (high - low) * offsetBytes),
    ])
    const bucket = { ids, offsets }
    if (!this.#closed) this.#buckets.set(this.#firstKey + firstByte, bucket)
    return bucket
  }

  async #read(at: number, length: number): Promise<Buffer> {
    if (this.#closed) throw new UnknownLayout('pack is closed')
    return readExactly(this.#file, at, length)
  }
}

/** @throws DamagedObject when the file ends early */
export async function readExactly(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(length)
  const { bytesRead } = await file.read(bytes, 0, length, at)
  if (bytesRead !== length) throw new DamagedObject('file ends early')
  return bytes
}

/**
 * Position of an id in the sorted table of a commit-graph.
 *
 * @param fanout for each byte, the number of ids whose first byte is not greater
 * @returns -1 when the table does not hold the id
 */
export function findId(fanout: Buffer, ids: Buffer, id: Buffer): number {
  const [low, high] = rangeOf(fanout, id[0] ?? 0)
  return findAmong(ids, low, high, id)
}

/** The positions of the ids with this first byte. */
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
