import type { Cancellable } from '../cancellable.js'
import type { CommitGraph } from './commit-graph.js'
import { DateQueue } from './date-queue.js'
import { createTurns } from './turns.js'

/** Tree, parents and date of a commit outside the commit-graph. */
export interface CommitLinks {
  id: string
  treeId: string
  parentIds: string[]
  seconds: number
}

/** The commits that a walk visits. `read` rejects for a commit that does not exist. */
export interface History {
  graph: CommitGraph | null
  read: (id: string) => Promise<CommitLinks>
}

/**
 * Represents commits as numbers: positions in the graph, and negative numbers for commits outside the graph.
 */
export class Nodes {
  readonly #history: History
  readonly #seen: Uint8Array
  readonly #outside: CommitLinks[] = []
  readonly #outsideIds = new Set<string>()

  constructor(history: History) {
    this.#history = history
    this.#seen = new Uint8Array(((history.graph?.count ?? 0) >> 3) + 1)
  }

  get outsideCount(): number {
    return this.#outside.length
  }

  /** Returns the number of a commit the first time it is met. @returns null when the walk has met it before */
  async meet(id: string): Promise<number | null> {
    const position = this.#history.graph?.find(id) ?? -1
    if (position >= 0) return this.#meetPosition(position)
    if (this.#outsideIds.has(id)) return null
    this.#outsideIds.add(id)
    return -this.#outside.push(await this.#history.read(id))
  }

  idOf(node: number): string {
    return node < 0 ? (this.#linksOf(node)?.id ?? '') : (this.#history.graph?.idAt(node) ?? '')
  }

  secondsOf(node: number): number {
    return node < 0 ? (this.#linksOf(node)?.seconds ?? 0) : (this.#history.graph?.dateAt(node) ?? 0)
  }

  /** Visits the parents of a commit of the graph, in order, without those that the walk has met before. */
  visitParents(position: number, firstOnly: boolean, visit: (parent: number) => void): void {
    this.#history.graph?.eachParent(position, firstOnly, (parent) => {
      if (this.#meetPosition(parent) !== null) visit(parent)
    })
  }

  /** As `visitParents`, for a commit outside the graph. Its parents are read from the disk. */
  async readParents(node: number, firstOnly: boolean, visit: (parent: number) => void): Promise<void> {
    const parentIds = this.#linksOf(node)?.parentIds ?? []
    for (const id of firstOnly ? parentIds.slice(0, 1) : parentIds) {
      const parent = await this.meet(id)
      if (parent !== null) visit(parent)
    }
  }

  treeOf(node: number): string {
    return node < 0 ? (this.#linksOf(node)?.treeId ?? '') : (this.#history.graph?.treeAt(node) ?? '')
  }

  parentCount(node: number): number {
    if (node < 0) return this.#linksOf(node)?.parentIds.length ?? 0
    let count = 0
    this.#history.graph?.eachParent(node, false, () => {
      count += 1
    })
    return count
  }

  /** Tree id of the first parent; null for a root commit. */
  async firstParentTree(node: number): Promise<string | null> {
    const { graph, read } = this.#history
    if (node < 0) {
      const [id] = this.#linksOf(node)?.parentIds ?? []
      if (id === undefined) return null
      const position = graph?.find(id) ?? -1
      return position >= 0 ? (graph?.treeAt(position) ?? null) : (await read(id)).treeId
    }
    let tree: string | null = null
    graph?.eachParent(node, true, (parent) => {
      tree = graph.treeAt(parent)
    })
    return tree
  }

  #linksOf = (node: number) => this.#outside[-node - 1]

  #meetPosition(position: number): number | null {
    const bit = 1 << (position & 7)
    const byte = this.#seen[position >> 3] ?? 0
    if (byte & bit) return null
    this.#seen[position >> 3] = byte | bit
    return position
  }
}

export interface WalkQuery {
  tip: string
  firstParent: boolean
  skip: number
  take: number
}

/** Ids of commits from the tip on, newest committer date first, as `git rev-list` orders them. */
export async function walkCommits(
  history: History,
  { tip, firstParent, skip, take }: WalkQuery,
  cancellable?: Cancellable,
): Promise<string[]> {
  const nodes = new Nodes(history)
  const queue = new DateQueue()
  const turns = createTurns(cancellable)
  const enter = (node: number) => queue.push(node, nodes.secondsOf(node))
  const first = await nodes.meet(tip)
  if (first !== null) enter(first)
  const ids: string[] = []
  for (let index = 0; index < skip + take; index += 1) {
    const node = queue.pop()
    if (node === null) break
    if (index >= skip) ids.push(nodes.idOf(node))
    if (node < 0) await nodes.readParents(node, firstParent, enter)
    else nodes.visitParents(node, firstParent, enter)
    if (turns.isOver()) await turns.yieldToEventLoop()
  }
  return ids
}
