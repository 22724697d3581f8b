import { storedPath } from '@switchyard/domain/commit'
import type { Cancellable } from '../cancellable.js'
import { DateQueue } from './date-queue.js'
import { UnknownLayout } from './layout.js'
import { type PathKey, pathKey } from './path-filters.js'
import { isFile, type ReadTree, TreeLookup } from './tree-lookup.js'
import { createTurns } from './turns.js'
import { type History, Nodes } from './walk.js'

export interface PathQuery {
  tip: string
  path: string
  firstParent: boolean
  /** The name of a file before the commit that renamed it; null when the commit created it. */
  nameBefore: (commitId: string, path: string) => Promise<string | null>
}

/** git handles a walk that needs more comparisons of trees, in a process of its own. */
const comparisonsMax = 3_000
const unlikely = { from: 300, part: 0.2 }

/**
 * Ids of the commits that changed a path, newest first, as `git log --follow` lists them: without merges unless only first
 * parents are walked, and under the former names of a renamed file.
 *
 * @throws UnknownLayout when the walk is left to git
 */
export async function walkPath(
  history: History,
  readTree: ReadTree,
  query: PathQuery,
  cancellable?: Cancellable,
): Promise<string[]> {
  const nodes = new Nodes(history)
  const queue = new DateQueue()
  const turns = createTurns(cancellable)
  const follower = new Follower({ history, nodes, readTree, query })
  const enter = (node: number) => queue.push(node, nodes.secondsOf(node))
  const first = await nodes.meet(query.tip)
  if (first !== null) enter(first)
  const ids: string[] = []
  for (let node = queue.pop(); node !== null; node = queue.pop()) {
    // The changed-path filter of the graph answers for most commits without reading a tree.
    if (follower.mayChange(node) && (await follower.changes(node))) ids.push(nodes.idOf(node))
    if (node < 0) await nodes.readParents(node, query.firstParent, enter)
    else nodes.visitParents(node, query.firstParent, enter)
    if (turns.isOver()) await turns.yieldToEventLoop()
  }
  return ids
}

interface Work {
  history: History
  nodes: Nodes
  readTree: ReadTree
  query: PathQuery
}

/** Decides whether commits changed a path. After the commit that renamed the file, it continues with the former name. */
class Follower {
  readonly #work: Work
  #path: string
  #key: PathKey
  #lookup: TreeLookup
  #asked = 0
  #comparisons = 0

  constructor(work: Work) {
    this.#work = work
    this.#path = work.query.path
    this.#key = keyOf(this.#path)
    this.#lookup = new TreeLookup(work.readTree, storedPath(this.#path))
  }

  mayChange(node: number): boolean {
    const { history, nodes, query } = this.#work
    this.#asked += 1
    if (!query.firstParent && nodes.parentCount(node) > 1) return false
    return node < 0 || history.graph?.mayChange(node, this.#key) !== false
  }

  async changes(node: number): Promise<boolean> {
    this.#count()
    const { nodes, query } = this.#work
    const before = await nodes.firstParentTree(node)
    const [was, is] = await this.#lookup.compare(before, nodes.treeOf(node))
    if (was === is) return false
    // A root commit has no former names, and git looks for none when a file replaces a folder.
    if (before === null || !isFile(is) || was !== null) return true
    const name = await query.nameBefore(nodes.idOf(node), this.#path)
    if (name !== null) this.#follow(name)
    return true
  }

  #follow(path: string): void {
    this.#path = path
    this.#key = keyOf(path)
    this.#lookup = new TreeLookup(this.#work.readTree, storedPath(path))
  }

  #count(): void {
    this.#comparisons += 1
    const many = this.#comparisons > unlikely.from && this.#comparisons > this.#asked * unlikely.part
    if (many || this.#comparisons > comparisonsMax) throw new UnknownLayout('many comparisons')
  }
}

function keyOf(path: string): PathKey {
  const stored = storedPath(path)
  const isPlain = stored.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
  const key = isPlain ? pathKey(stored) : null
  if (!key) throw new UnknownLayout('path')
  return key
}
