import type { Cancellable } from '../cancellable.js'
import { type CommitGraph, graphStamp, readCommitGraph } from './commit-graph.js'
import { commitLinks } from './commit-links.js'
import { countCommits } from './count.js'
import { type OnFallback, reportFallback } from './fallbacks.js'
import { requireKnownLayout, UnknownLayout } from './layout.js'
import { ObjectStore, type StoredObject } from './object-store.js'
import { type PathQuery, walkPath } from './path-walk.js'
import { RefsStore } from './refs-store.js'
import { type History, type WalkQuery, walkCommits } from './walk.js'

/** Interval between checks of the layout and the commit-graph. Changes of either do not change answers. */
const layoutKnownMs = 1_000
/** Most commits outside the commit-graph that a count reads one by one. */
const outsideMax = 2_000
const tagDepthMax = 10

/**
 * Reads one repository without a git process. Each answer equals that of git, or is `undefined` when git must be asked: the
 * layout is not supported, an object is missing or damaged, or a file cannot be read.
 */
export class LocalReader {
  readonly #path: string
  readonly #refs: RefsStore
  readonly #objects: ObjectStore
  #graph: CommitGraph | null = null
  #graphStamp = ''
  #checkedMs = Number.NEGATIVE_INFINITY
  #checking: Promise<void> | undefined
  readonly #onFallback: OnFallback

  constructor(path: string, onFallback: OnFallback) {
    this.#path = path
    this.#onFallback = onFallback
    this.#refs = new RefsStore(path)
    this.#objects = new ObjectStore(path)
  }

  get memoryBytes(): number {
    return this.#objects.memoryBytes + (this.#graph?.memoryBytes ?? 0)
  }

  close(): Promise<void> {
    return this.#objects.close()
  }

  readObject(id: string): Promise<StoredObject | undefined> {
    return this.#attempt(() => this.#read(id))
  }

  /** Object id of a reference; null when there is no such reference. */
  findRef(refName: string): Promise<string | null | undefined> {
    return this.#attempt(() => this.#refs.resolve(refName))
  }

  /** The commit with this id, or the commit that the tag with this id points to. */
  findCommit(id: string): Promise<StoredObject | undefined> {
    return this.#attempt(() => this.#peel(id))
  }

  /** Whether the commit-graph, which lacks the newest commits, holds this commit. */
  async isKnownCommit(id: string): Promise<boolean> {
    return (await this.#attempt(async () => (this.#graph?.find(id) ?? -1) >= 0)) ?? false
  }

  walk(query: WalkQuery, cancellable?: Cancellable): Promise<string[] | undefined> {
    return this.#attempt(() => walkCommits(this.#history(), query, cancellable))
  }

  /** Counts the ancestors of the tip, the tip included. */
  count(tip: string, firstParent: boolean, cancellable?: Cancellable): Promise<number | undefined> {
    const query = { tip, firstParent, outsideMax }
    return this.#attempt(async () => (await countCommits(this.#history(), query, cancellable)) ?? undefined)
  }

  /** Ids of the commits that changed a path, as `git log --follow` lists them. */
  walkPath(query: PathQuery, cancellable?: Cancellable): Promise<string[] | undefined> {
    return this.#attempt(async () => {
      const history = this.#history()
      await history.graph?.loadFilters()
      return walkPath(history, (id) => this.#tree(id), query, cancellable)
    })
  }

  #history(): History {
    return { graph: this.#graph, read: async (id) => commitLinks(id, (await this.#commit(id)).content) }
  }

  async #read(id: string): Promise<StoredObject> {
    const found = await this.#objects.read(id)
    if (!found) throw new UnknownLayout('missing object')
    return { id, ...found }
  }

  async #commit(id: string): Promise<StoredObject> {
    const found = await this.#read(id)
    if (found.type !== 'commit') throw new UnknownLayout('not a commit')
    return found
  }

  async #tree(id: string): Promise<Buffer> {
    const found = await this.#read(id)
    if (found.type !== 'tree') throw new UnknownLayout('not a tree')
    return found.content
  }

  async #peel(start: string): Promise<StoredObject> {
    let id = start
    for (let depth = 0; depth < tagDepthMax; depth += 1) {
      const object = await this.#read(id)
      if (object.type === 'commit') return object
      const target = /^object ([0-9a-f]{40})\n/.exec(object.content.toString('latin1', 0, 48))?.[1]
      if (object.type !== 'tag' || target === undefined) break
      id = target
    }
    throw new UnknownLayout('not a commit')
  }

  async #attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      await this.#refresh()
      return await work()
    } catch (error) {
      reportFallback(error, this.#onFallback)
      return undefined
    }
  }

  /** Checks the layout and reads a new commit-graph, at most once in `layoutKnownMs`. Simultaneous calls share one check. */
  async #refresh(): Promise<void> {
    if (performance.now() - this.#checkedMs < layoutKnownMs) return
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined
    })
    await this.#checking
  }

  async #check(): Promise<void> {
    await requireKnownLayout(this.#path)
    const stamp = await graphStamp(this.#path)
    if (stamp !== this.#graphStamp) {
      this.#graph = await this.#readGraph()
      this.#graphStamp = stamp
    }
    this.#checkedMs = performance.now()
  }

  /** Without a readable commit-graph, answers are slower and otherwise the same. */
  async #readGraph(): Promise<CommitGraph | null> {
    try {
      return await readCommitGraph(this.#path)
    } catch (error) {
      reportFallback(error, this.#onFallback)
      return null
    }
  }
}
