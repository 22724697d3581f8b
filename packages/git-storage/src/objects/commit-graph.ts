import { closeSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { UnknownLayout } from './layout.js'
import { findId } from './pack-index.js'
import { PathFilters, type PathKey } from './path-filters.js'

const idBytes = 20
const entryBytes = 36
const totalBytes = 4
const noParent = 0x70000000
const moreParents = 0x80000000
const lastEdge = 0x80000000

/** One file of a graph; its positions follow those of the files before it. */
interface Layer {
  fanout: Buffer
  ids: Buffer
  data: Buffer
  edges: Buffer
  count: number
  firstPosition: number
  file: string
  /** Read when they are first needed; null: it has none. */
  filters?: PathFilters | null
}

/** Parents and dates of most commits, by position. What it says of a commit never changes. */
export class CommitGraph {
  readonly count: number
  readonly memoryBytes: number
  readonly #layers: Layer[]
  /** How many commits lead to each, where that is known; 0: it is not. */
  readonly #totals: { all?: Int32Array; firstParents?: Int32Array } = {}

  constructor(layers: Layer[]) {
    this.#layers = layers
    this.count = layers.reduce((sum, layer) => sum + layer.count, 0)
    this.memoryBytes = this.count * (idBytes + entryBytes + totalBytes)
  }

  /** @returns -1 when the graph does not know the commit */
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
   * False only when the commit did not change the path, compared with its first parent.
   *
   * @returns undefined where there is no filter
   */
  mayChange(position: number, key: PathKey): boolean | undefined {
    const { layer, at } = this.#locate(position)
    if (layer.filters === undefined) layer.filters = readFilters(layer)
    return layer.filters?.mayContain(at, key)
  }

  /** Seconds of the committer's date. */
  dateAt(position: number): number {
    const { layer, at } = this.#locate(position)
    const start = at * entryBytes + idBytes
    return (layer.data.readUInt32BE(start + 8) & 3) * 2 ** 32 + layer.data.readUInt32BE(start + 12)
  }

  /** More than that of every commit before it. @throws UnknownLayout in graphs of old versions of git */
  generationAt(position: number): number {
    const { layer, at } = this.#locate(position)
    const generation = layer.data.readUInt32BE(at * entryBytes + idBytes + 8) >>> 2
    if (generation === 0) throw new UnknownLayout('commit-graph without generations')
    return generation
  }

  /** Kept as long as the graph; by position. */
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

  /** The second and later parents of a merge of many. */
  #eachFurtherParent(layer: Layer, firstEdge: number, visit: (parent: number) => void): void {
    let edge = firstEdge
    for (;;) {
      const parent = layer.edges.readUInt32BE(edge)
      visit(parent >= lastEdge ? parent - lastEdge : parent)
      if (parent >= lastEdge) return
      edge += 4
    }
  }

  #locate(position: number): { layer: Layer; at: number } {
    for (let index = this.#layers.length - 1; index >= 0; index -= 1) {
      const layer = this.#layers[index] as Layer
      if (position >= layer.firstPosition) return { layer, at: position - layer.firstPosition }
    }
    throw new UnknownLayout('position outside the commit-graph')
  }
}

const graphFile = 'objects/info/commit-graph'
const chainFile = 'objects/info/commit-graphs/commit-graph-chain'

/** What changes when the graph is written anew. */
export function graphStamp(path: string): string {
  return [graphFile, chainFile]
    .map((file) => {
      const found = statSync(join(path, file), { throwIfNoEntry: false })
      return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : ''
    })
    .join()
}

/**
 * The graph as it is now; null without one.
 *
 * @throws UnknownLayout for another version
 */
export function readCommitGraph(path: string): CommitGraph | null {
  if (statSync(join(path, graphFile), { throwIfNoEntry: false })) {
    return new CommitGraph([readLayer(join(path, graphFile), 0)])
  }
  if (!statSync(join(path, chainFile), { throwIfNoEntry: false })) return null
  const layers: Layer[] = []
  let firstPosition = 0
  for (const hash of readFileSync(join(path, chainFile), 'latin1').split('\n').filter(Boolean)) {
    const layer = readLayer(join(path, 'objects/info/commit-graphs', `graph-${hash}.graph`), firstPosition)
    layers.push(layer)
    firstPosition += layer.count
  }
  return new CommitGraph(layers)
}

const headerBytes = 8
const chunkRowBytes = 12

function readLayer(path: string, firstPosition: number): Layer {
  return withChunks(path, (chunk) => {
    const fanout = chunk('OIDF')
    const ids = chunk('OIDL')
    const data = chunk('CDAT')
    const count = ids.length / idBytes
    if (fanout.length !== 1024 || data.length !== count * entryBytes || fanout.readUInt32BE(1020) !== count)
      throw new UnknownLayout('commit-graph')
    return { fanout, ids, data, edges: chunk('EDGE'), count, firstPosition, file: path }
  })
}

/** Null also when another graph has taken the place of this one: filters only save work. */
function readFilters({ file, ids, count }: Layer): PathFilters | null {
  try {
    return withChunks(file, (chunk) =>
      chunk('OIDL').equals(ids) ? PathFilters.from(chunk('BIDX'), chunk('BDAT'), count) : null,
    )
  } catch {
    return null
  }
}

/** Opens a file of a graph, to take chunks from it by their names; an absent one is empty. */
function withChunks<T>(path: string, use: (chunk: (name: string) => Buffer) => T): T {
  const file = openSync(path, 'r')
  try {
    const read = (start: number, length: number) => {
      const bytes = Buffer.allocUnsafe(length)
      if (readSync(file, bytes, 0, length, start) !== length) throw new UnknownLayout('short commit-graph')
      return bytes
    }
    const header = read(0, headerBytes)
    // Version 1, of SHA-1.
    if (header.toString('latin1', 0, 4) !== 'CGPH' || header[4] !== 1 || header[5] !== 1)
      throw new UnknownLayout('commit-graph')
    const table = read(headerBytes, ((header[6] ?? 0) + 1) * chunkRowBytes)
    const { size } = fstatSync(file)
    return use((name) => chunkOf(table, name, size, read))
  } finally {
    closeSync(file)
  }
}

function chunkOf(
  table: Buffer,
  wanted: string,
  fileSize: number,
  read: (start: number, length: number) => Buffer,
): Buffer {
  for (let row = 0; row + chunkRowBytes * 2 <= table.length; row += chunkRowBytes) {
    if (table.toString('latin1', row, row + 4) !== wanted) continue
    const start = Number(table.readBigUInt64BE(row + 4))
    const end = Number(table.readBigUInt64BE(row + chunkRowBytes + 4))
    if (end > fileSize || start > end) throw new UnknownLayout('commit-graph')
    return read(start, end - start)
  }
  return Buffer.alloc(0)
}
