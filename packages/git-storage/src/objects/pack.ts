import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { LRUCache } from 'lru-cache'
import { applyDelta } from './delta.js'
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
/** Larger objects are git's to read: they would stand in everybody's way here. */
export const objectBytesMax = 1024 * 1024
const deltaDepthMax = 256
const treeBytesMax = 2 * 1024 * 1024
const entryHeaderBytesMax = 48
/** Parts of a pack that are kept, of each pack. */
const pageBytes = 32 * 1024
const pagesMax = 32

interface Entry {
  kind: number
  size: number
  /** Where its compressed bytes begin. */
  dataAt: number
  /** Of the base: an offset in this pack, or an id. */
  base: number | string | null
}

/** One pack with its index, open for reading. */
export class Pack {
  readonly #index: PackIndex
  readonly #file: number
  readonly #size: number
  /** Trees by where they begin: the next older version of one is mostly a delta of it. */
  readonly #trees = new LRUCache<number, PackedObject>({
    maxSize: treeBytesMax,
    sizeCalculation: ({ content }) => content.length + 100,
  })
  readonly #pages = new LRUCache<number, Buffer>({ max: pagesMax })
  /** Its number may stand for another file then. */
  #closed = false

  /** @param file path without its ending */
  constructor(file: string, buckets: Buckets) {
    this.#file = openSync(`${file}.pack`, 'r')
    try {
      this.#size = fstatSync(this.#file).size
      this.#index = new PackIndex(`${file}.idx`, buckets)
    } catch (error) {
      closeSync(this.#file)
      throw error
    }
  }

  get memoryBytes(): number {
    return this.#trees.calculatedSize + this.#pages.size * pageBytes
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    closeSync(this.#file)
    this.#index.close()
  }

  /**
   * @returns null when it is not in this pack
   * @throws UnknownLayout for an object that is too large, or based on one outside the pack
   */
  read(id: Buffer): PackedObject | null {
    if (this.#closed) throw new UnknownLayout('pack is closed')
    const offset = this.#index.find(id)
    return offset < 0 ? null : this.#readAt(offset)
  }

  #readAt(start: number): PackedObject {
    const found = this.#trees.get(start) ?? this.#resolve(start)
    if (found.type === 'tree') this.#trees.set(start, found)
    return found
  }

  #resolve(start: number): PackedObject {
    const deltas: Buffer[] = []
    let offset = start
    while (deltas.length < deltaDepthMax) {
      const base = this.#trees.get(offset)
      if (base) return { type: base.type, content: deltas.reduceRight(applyDelta, base.content) }
      const entry = this.#entryAt(offset)
      const content = this.#inflate(entry)
      if (entry.base === null) {
        const type = typeNames[entry.kind]
        if (type === undefined) throw new UnknownLayout(`packed object of type ${entry.kind}`)
        return { type, content: deltas.reduceRight(applyDelta, content) }
      }
      deltas.push(content)
      offset =
        typeof entry.base === 'number' ? entry.base : this.#index.find(Buffer.from(entry.base, 'latin1'))
      if (offset < 0) throw new UnknownLayout('delta of an object elsewhere')
    }
    throw new UnknownLayout('too many deltas')
  }

  #entryAt(offset: number): Entry {
    // Type, size and base take at most some 40 bytes.
    const bytes = this.#bytesAt(offset, Math.min(entryHeaderBytesMax, this.#size - offset))
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
      byte = byteAt(bytes, from)
      let back = byte & 0x7f
      while (byte & 0x80) {
        byte = byteAt(bytes, from)
        back = (back + 1) * 128 + (byte & 0x7f)
      }
      base = offset - back
      if (base <= 0 || base >= offset) throw new UnknownLayout('delta base')
    } else if (kind === referenceDelta) {
      base = bytes.toString('latin1', from.at, from.at + idBytes)
      from.at += idBytes
    }
    return { kind, size, dataAt: offset + from.at, base }
  }

  #inflate({ size, dataAt }: Entry): Buffer {
    if (size > objectBytesMax) throw new UnknownLayout('large object')
    const left = this.#size - dataAt
    // What deflate may need at most; other writers than git may need more, which is rare.
    let length = Math.min(left, size + (size >> 10) + 64)
    for (;;) {
      const content = inflateObject(this.#bytesAt(dataAt, length), size)
      if (content) return content
      if (length >= left) throw new UnknownLayout('object cannot be inflated')
      length = Math.min(left, length * 4)
    }
  }

  /** A commit is mostly next to its parents, so what is read stays for the next ones. */
  #bytesAt(offset: number, length: number): Buffer {
    const first = Math.floor(offset / pageBytes)
    const last = Math.floor((offset + length - 1) / pageBytes)
    const start = offset - first * pageBytes
    if (first === last) return this.#page(first).subarray(start, start + length)
    const bytes = Buffer.allocUnsafe(length)
    const got = readSync(this.#file, bytes, 0, length, offset)
    return bytes.subarray(0, got)
  }

  #page(number: number): Buffer {
    const known = this.#pages.get(number)
    if (known) return known
    const bytes = Buffer.allocUnsafeSlow(pageBytes)
    const got = readSync(this.#file, bytes, 0, pageBytes, number * pageBytes)
    const page = bytes.subarray(0, got)
    this.#pages.set(number, page)
    return page
  }
}

function byteAt(bytes: Buffer, from: { at: number }): number {
  const byte = bytes[from.at]
  if (byte === undefined) throw new UnknownLayout('pack ends early')
  from.at += 1
  return byte
}
