import { open, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DamagedObject } from './fallbacks.js'
import { UnknownLayout } from './layout.js'
import { nullIfMissing } from './missing-files.js'
import { findId, readExactly } from './pack-index.js'
import { PathFilters, type PathKey } from './path-filters.js'

const idBytes = 20
const entryBytes = 36
const totalBytes = 4
const noParent = 0x70000000
const moreParents = 0x80000000
const lastEdge = 0x80000000

/** One file of a graph. Its positions follow those of the previous files. */
interface Layer {
  fanout: Buffer
  ids: Buffer
  data: Buffer
  edges: Buffer
  count: number
  firstPosition: number
  file: string
  /** Unset: not read yet. Null: the file has no filters. */
  filters?: PathFilters | null
}

/** Parents and dates of the commits that git's commit-graph holds, by position (gitformat-commit-graph). */
export class CommitGraph {
  readonly count: number
  readonly memoryBytes: number
  readonly #layers: Layer[]
  /** The number of ancestors of each commit, itself included; 0: not counted yet. */
  readonly #totals: { all?: Int32Array; firstParents?: Int32Array } = {}

  constructor(layers: Layer[]) {
    this.#layers = layers
    this.count = layers.reduce((sum, layer) => sum + layer.count, 0)
    this.memoryBytes = this.count * (idBytes + entryBytes + totalBytes)
  }

  /** @returns position of a commit; -1 when the graph does not hold it */
  find(id: string): number {
    const key = Buffer.from(id, 'hex')
    for (let index = this.#layers.length - 1; index >= 0; index -= 1) {
      const layer = this.#layers[index] as Layer
      const position = findId(layer.fanout, layer.ids, key)
      if (position >= 0) return layer.firstPosition + position
    }
    return -1
  }

  idAt(position: number): string {
    const { layer, at } = this.#locate(position)
    return layer.ids.toString('hex', at * idBytes, (at + 1) * idBytes)
  }

  treeAt(position: number): string {
    const { layer, at } = this.#locate(position)
    return layer.data.toString('hex', at * entryBytes, at * entryBytes + idBytes)
  }

  /**
   * @returns false: the commit did not change the path, compared with its first parent; undefined: the commit has no filter
   */
  mayChange(position: number, key: PathKey): boolean | undefined {
    const { layer, at } = this.#locate(position)
    return layer.filters?.mayContain(at, key)
  }

  /** Reads the filters for `mayChange`. */
  async loadFilters(): Promise<void> {
    for (const layer of this.#layers) {
      if (layer.filters === undefined) layer.filters = await readFilters(layer)
    }
  }

  /** Seconds of the committer's date. */
  dateAt(position: number): number {
    const { layer, at } = this.#locate(position)
    const start = at * entryBytes + idBytes
    return (layer.data.readUInt32BE(start + 8) & 3) * 2 ** 32 + layer.data.readUInt32BE(start + 12)
  }

  /** The generation number, which is greater than that of every ancestor. @throws UnknownLayout when the graph has none */
  generationAt(position: number): number {
    const { layer, at } = this.#locate(position)
    const generation = layer.data.readUInt32BE(at * entryBytes + idBytes + 8) >>> 2
    if (generation === 0) throw new UnknownLayout('commit-graph without generations')
    return generation
  }

  /** Numbers of ancestors by position, filled in by counts. */
  totals(firstParents: boolean): Int32Array {
    const kind = firstParents ? 'firstParents' : 'all'
    this.#totals[kind] ??= new Int32Array(this.count)
    return this.#totals[kind]
  }

  /** Calls `visit` with the position of each parent, in order. */
  eachParent(position: number, firstOnly: boolean, visit: (parent: number) => void): void {
    const { layer, at } = this.#locate(position)
    const start = at * entryBytes + idBytes
    const first = layer.data.readUInt32BE(start)
    if (first === noParent) return
    visit(first)
    if (firstOnly) return
    const second = layer.data.readUInt32BE(start + 4)
    if (second === noParent) return
    if (second < moreParents) visit(second)
    else this.#eachFurtherParent(layer, (second - moreParents) * 4, visit)
  }

  /** The second and later parents of an octopus merge. */
  #eachFurtherParent(layer: Layer, firstEdge: number, visit: (parent: number) => void): void {
    for (let edge = firstEdge; edge + 4 <= layer.edges.length; edge += 4) {
      const parent = layer.edges.readUInt32BE(edge)
      visit(parent >= lastEdge ? parent - lastEdge : parent)
      if (parent >= lastEdge) return
    }
    throw new DamagedObject('commit-graph ends early')
  }

  #locate(position: number): { layer: Layer; at: number } {
    for (let index = this.#layers.length - 1; index >= 0; index -= 1) {
      const layer = this.#layers[index] as Layer
      if (position >= layer.firstPosition) return { layer, at: position - layer.firstPosition }
    }
    throw new DamagedObject('position outside the commit-graph')
  }
}

const graphFile = 'objects/info/commit-graph'
const chainFile = 'objects/info/commit-graphs/commit-graph-chain'

/** A text that changes whenever the graph is rewritten. */
export async function graphStamp(path: string): Promise<string> {
  const files = [graphFile, chainFile].map((file) => nullIfMissing(stat(join(path, file))))
  return (await Promise.all(files))
    .map((found) => (found ? `${found.ino} ${found.size} ${found.mtimeMs}` : ''))
    .join()
}

/**
 * Reads the commit-graph of a repository; null when there is none.
 *
 * @throws UnknownLayout for an unsupported version
 */
export async function readCommitGraph(path: string): Promise<CommitGraph | null> {
  const whole = await nullIfMissing(readLayer(join(path, graphFile), 0))
  if (whole) return new CommitGraph([whole])
  const chain = await nullIfMissing(readFile(join(path, chainFile), 'latin1'))
  if (chain === null) return null
  const layers: Layer[] = []
  let firstPosition = 0
  for (const hash of chain.split('\n').filter(Boolean)) {
    const layer = await readLayer(
      join(path, 'objects/info/commit-graphs', `graph-${hash}.graph`),
      firstPosition,
    )
    layers.push(layer)
    firstPosition += layer.count
  }
  return new CommitGraph(layers)
}

const headerBytes = 8
const chunkRowBytes = 12

function readLayer(path: string, firstPosition: number): Promise<Layer> {
  return withChunks(path, async (chunk) => {
    const fanout = await chunk('OIDF')
    const ids = await chunk('OIDL')
    const data = await chunk('CDAT')
    const count = ids.length / idBytes
    if (fanout.length !== 1024 || data.length !== count * entryBytes || fanout.readUInt32BE(1020) !== count)
      throw new DamagedObject('commit-graph')
    return { fanout, ids, data, edges: await chunk('EDGE'), count, firstPosition, file: path }
  })
}

/** Reads the filters of a file; null when it has none, and when housekeeping has removed or replaced it. */
function readFilters({ file, ids, count }: Layer): Promise<PathFilters | null> {
  return nullIfMissing(
    withChunks(file, async (chunk) =>
      (await chunk('OIDL')).equals(ids)
        ? PathFilters.from(await chunk('BIDX'), await chunk('BDAT'), count)
        : null,
    ),
  )
}

/** Reads a chunk of a graph's file by its name; empty when the file has no such chunk. */
type ReadChunk = (name: string) => Promise<Buffer>

async function withChunks<T>(path: string, use: (chunk: ReadChunk) => Promise<T>): Promise<T> {
  const file = await open(path, 'r')
  try {
    const header = await readExactly(file, 0, headerBytes)
    if (header.toString('latin1', 0, 4) !== 'CGPH' || header[4] !== 1 || header[5] !== 1)
      throw new UnknownLayout('commit-graph of another version or hash function')
    const table = await readExactly(file, headerBytes, ((header[6] ?? 0) + 1) * chunkRowBytes)
    const { size } = await file.stat()
    return await use(async (name) => {
      const place = placeOf(table, name, size)
      return place ? readExactly(file, place.start, place.length) : Buffer.alloc(0)
    })
  } finally {
    await file.close()
  }
}

function placeOf(table: Buffer, wanted: string, fileSize: number): { start: number; length: number } | null {
  for (let row = 0; row + chunkRowBytes * 2 <= table.length; row += chunkRowBytes) {
    if (table.toString('latin1', row, row + 4) !== wanted) continue
    const start = Number(table.readBigUInt64BE(row + 4))
    const end = Number(table.readBigUInt64BE(row + chunkRowBytes + 4))
    if (end > fileSize || start > end) throw new DamagedObject('commit-graph')
    return { start, length: end - start }
  }
  return null
}
