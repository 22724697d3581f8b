/** The hashes of a path and of every folder above it, because a change of the path also changes these folders. */
export type PathKey = readonly (readonly [number, number])[]

const headerBytes = 12
const hashesPerPath = 7
const seeds = [0x293ae76f, 0x7e646e2c] as const

/**
 * @param path as trees store it
 * @returns null for a path that is not ASCII: version 1 of the filters hashes such paths in a platform-specific way
 */
export function pathKey(path: string): PathKey | null {
  if (!/^\p{ASCII}+$/u.test(path)) return null
  const parts = path.split('/')
  return parts.map((_part, index) => {
    const bytes = Buffer.from(parts.slice(0, parts.length - index).join('/'), 'latin1')
    return [murmur3(bytes, seeds[0]), murmur3(bytes, seeds[1])] as const
  })
}

/** The changed-path filters of one commit-graph file: a Bloom filter for each commit. */
export class PathFilters {
  readonly #ends: Buffer
  readonly #data: Buffer

  private constructor(ends: Buffer, data: Buffer) {
    this.#ends = ends
    this.#data = data
  }

  /** @returns null when the file has no filters, or filters of another version */
  static from(ends: Buffer, data: Buffer, count: number): PathFilters | null {
    if (ends.length !== count * 4 || data.length < headerBytes) return null
    if (data.readUInt32BE(0) !== 1 || data.readUInt32BE(4) !== hashesPerPath) return null
    return new PathFilters(ends, data)
  }

  /** @returns undefined when the commit has no filter */
  mayContain(commit: number, key: PathKey): boolean | undefined {
    const start = headerBytes + (commit === 0 ? 0 : this.#ends.readUInt32BE((commit - 1) * 4))
    const end = headerBytes + this.#ends.readUInt32BE(commit * 4)
    if (end <= start || end > this.#data.length) return undefined
    return key.every(([first, second]) => this.#hasBits(start, (end - start) * 8, first, second))
  }

  #hasBits(start: number, bits: number, first: number, second: number): boolean {
    for (let index = 0; index < hashesPerPath; index += 1) {
      const bit = ((first + Math.imul(index, second)) >>> 0) % bits
      if (!((this.#data[start + (bit >>> 3)] ?? 0) & (1 << (bit & 7)))) return false
    }
    return true
  }
}

const rotated = (value: number, by: number) => (value << by) | (value >>> (32 - by))
const mixed = (block: number) => Math.imul(rotated(Math.imul(block, 0xcc9e2d51), 15), 0x1b873593)

/** MurmurHash3, 32-bit variant. */
function murmur3(bytes: Buffer, seed: number): number {
  let hash = seed
  const tail = bytes.length & ~3
  for (let at = 0; at < tail; at += 4)
    hash = (Math.imul(rotated(hash ^ mixed(bytes.readInt32LE(at)), 13), 5) + 0xe6546b64) | 0
  let rest = 0
  for (let at = bytes.length - 1; at >= tail; at -= 1) rest = (rest << 8) | (bytes[at] ?? 0)
  if (bytes.length > tail) hash ^= mixed(rest)
  hash ^= bytes.length
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
