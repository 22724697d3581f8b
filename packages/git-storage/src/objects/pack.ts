import { type FileHandle, open } from 'node:fs/promises'
import { LRUCache } from 'lru-cache'
import { applyDelta, byteAt, type Cursor } from './delta.js'
import { DamagedObject } from './fallbacks.js'
import { inflateObject } from './inflate.js'
import { UnknownLayout } from './layout.js'
import { type Buckets, PackIndex } from './pack-index.js'

export interface PackedObject {
  type: string
  content: Buffer
}

const typeNames: Record<number, string> = { 1: 'commit', 2: 'tree', 3: 'blob', 4: 'tag' }
const offsetDelta = 6
const referenceDelta = 7
const idBytes = 20
/** git reads larger objects, because the memory of its processes is bounded. */
export const objectBytesMax = 1024 * 1024
const deltaDepthMax = 256
const treeBytesMax = 2 * 1024 * 1024
const entryHeaderBytesMax = 48
/** Each pack caches its most recently used pages. */
const pageBytes = 32 * 1024
const pagesMax = 32

interface Entry {
  kind: number
  size: number
  /** Offset of the compressed bytes. */
  dataAt: number
  /** The base of a delta: an offset in this pack, or an id. */
  base: number | string | null
}

/** One pack with its index, open for reading (gitformat-pack). */
export class Pack {
  readonly #index: PackIndex
  readonly #file: FileHandle
  readonly #size: number
  /** Trees by their offset. An older version of a tree is usually stored as a delta of a newer one. */
  readonly #trees = new LRUCache<number, PackedObject>({
    maxSize: treeBytesMax,
    sizeCalculation: ({ content }) => content.length + 100,
  })
  readonly #pages = new LRUCache<number, Promise<Buffer>>({ max: pagesMax })
  #closed = false

  private constructor(file: FileHandle, size: number, index: PackIndex) {
    this.#file = file
    this.#size = size
    this.#index = index
  }

  /** @param path of the pack, without its extension */
  static async open(path: string, buckets: Buckets): Promise<Pack> {
    const file = await open(`${path}.pack`, 'r')
    try {
      const { size } = await file.stat()
      return new Pack(file, size, await PackIndex.open(`${path}.idx`, buckets))
    } catch (error) {
      await file.close()
      throw error
    }
  }

  get memoryBytes(): number {
    return this.#trees.calculatedSize + this.#pages.size * pageBytes
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await Promise.all([this.#file.close(), this.#index.close()])
  }

  /**
   * @returns null when the pack does not hold the object
   * @throws UnknownLayout for an object that is too large, or whose delta base is outside the pack
   */
  async read(id: Buffer): Promise<PackedObject | null> {
    const offset = await this.#index.find(id)
    return offset < 0 ? null : this.#readAt(offset)
  }

  async #readAt(start: number): Promise<PackedObject> {
    const found = this.#trees.get(start) ?? (await this.#resolve(start))
    if (found.type === 'tree') this.#trees.set(start, found)
    return found
  }

  async #resolve(start: number): Promise<PackedObject> {
    const deltas: Buffer[] = []
    let offset = start
    while (deltas.length < deltaDepthMax) {
      const base = this.#trees.get(offset)
      if (base) return { type: base.type, content: deltas.reduceRight(applyDelta, base.content) }
      const entry = await this.#entryAt(offset)
      const content = await this.#inflate(entry)
      if (entry.base === null) {
        const type = typeNames[entry.kind]
        if (type === undefined) throw new DamagedObject(`packed object of type ${entry.kind}`)
        return { type, content: deltas.reduceRight(applyDelta, content) }
      }
      deltas.push(content)
      offset =
        typeof entry.base === 'number'
          ? entry.base
          : await this.#index.find(Buffer.from(entry.base, 'latin1'))
      if (offset < 0) throw new UnknownLayout('delta of an object in another pack')
    }
    throw new UnknownLayout('too many deltas')
  }

  async #entryAt(offset: number): Promise<Entry> {
    // Type, size and base take about 40 bytes at most.
    const bytes = await this.#bytesAt(offset, Math.min(entryHeaderBytesMax, this.#size - offset))
    const from = { at: 0 }
    let byte = byteAt(bytes, from)
    const kind = (byte >> 4) & 7
    let size = byte & 15
    for (let factor = 16; byte & 0x80; factor *= 128) {
      byte = byteAt(bytes, from)
      size += (byte & 0x7f) * factor
    }
    let base: Entry['base'] = null
    if (kind === offsetDelta) {
      base = offset - readDistance(bytes, from)
      if (base <= 0 || base >= offset) throw new DamagedObject('delta base outside the pack')
    } else if (kind === referenceDelta) {
      base = bytes.toString('latin1', from.at, from.at + idBytes)
      from.at += idBytes
    }
    return { kind, size, dataAt: offset + from.at, base }
  }

  async #inflate({ size, dataAt }: Entry): Promise<Buffer> {
    if (size > objectBytesMax) throw new UnknownLayout('large object')
    const left = this.#size - dataAt
    // The compressed size has an upper bound with git's settings. The loop is for packs of other programs.
    let length = Math.min(left, size + (size >> 10) + 64)
    for (;;) {
      const content = await inflateObject(await this.#bytesAt(dataAt, length), size)
      if (content) return content
      if (length >= left) throw new DamagedObject('object ends early')
      length = Math.min(left, length * 4)
    }
  }

  /** Reads through the page cache, because a commit is usually stored next to its parents. */
  async #bytesAt(offset: number, length: number): Promise<Buffer> {
    const first = Math.floor(offset / pageBytes)
    const last = Math.floor((offset + length - 1) / pageBytes)
    if (first !== last) return this.#read(offset, length)
    const start = offset - first * pageBytes
    return (await this.#page(first)).subarray(start, start + length)
  }

  #page(number: number): Promise<Buffer> {
    const known = this.#pages.get(number)
    if (known) return known
    const page = this.#read(number * pageBytes, pageBytes)
    this.#pages.set(number, page)
    page.catch(() => this.#pages.delete(number))
    return page
  }

  async #read(offset: number, length: number): Promise<Buffer> {
    if (this.#closed) throw new UnknownLayout('pack is closed')
    const bytes = Buffer.allocUnsafeSlow(length)
    const { bytesRead } = await this.#file.read(bytes, 0, length, offset)
    return bytes.subarray(0, bytesRead)
  }
}

/** The distance between the offsets of a delta and its base. */
function readDistance(bytes: Buffer, from: Cursor): number {
  let byte = byteAt(bytes, from)
  let distance = byte & 0x7f
  while (byte & 0x80) {
    byte = byteAt(bytes, from)
    distance = (distance + 1) * 128 + (byte & 0x7f)
  }
  return distance
}
