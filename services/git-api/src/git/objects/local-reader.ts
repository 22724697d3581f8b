import type { During } from '../during.js'
import { type CommitGraph, graphStamp, readCommitGraph } from './commit-graph.js'
import { commitLinks } from './commit-links.js'
import { countCommits } from './count.js'
import { requireKnownLayout, UnknownLayout } from './layout.js'
import { ObjectStore, type StoredObject } from './object-store.js'
import { type PathQuery, walkPath } from './path-walk.js'
import { RefsStore } from './refs-store.js'
import { type History, type WalkQuery, walkCommits } from './walk.js'

/** So long may a changed layout, or a new commit-graph, go unnoticed. Neither changes what is read. */
const layoutKnownMs = 1_000
/** Commits without a place in the graph that a count reads one by one. */
const outsideMax = 2_000
const tagDepthMax = 10
/**
 * Reads one repository without a process. Each answer is what git would say, or `undefined`: then git
 * must be asked, because of a layout this does not know, an object that is not there, or any failure.
 */
export class LocalReader {
  readonly #path: string
  readonly #refs: RefsStore
  readonly #objects: ObjectStore
  #graph: CommitGraph | null = null
  #graphStamp = ''
  #checkedMs = Number.NEGATIVE_INFINITY
  #known = false

  constructor(path: string) {
    this.#path = path
    this.#refs = new RefsStore(path)
    this.#objects = new ObjectStore(path)
  }

  get memoryBytes(): number {
    return this.#objects.memoryBytes + (this.#graph?.memoryBytes ?? 0)
  }

  close(): void {
    this.#objects.close()
  }

  readObject(id: string): StoredObject | undefined {
    return this.#attempt(() => this.#read(id))
  }

  /** What a reference stands on; null when there is no such reference. */
  findRef(refName: string): string | null | undefined {
    return this.#attempt(() => this.#refs.resolve(refName))
  }

  /** The commit that has this id, or that the tag with this id leads to. */
  findCommit(id: string): StoredObject | undefined {
    return this.#attempt(() => this.#peel(id))
  }

  /** Whether this is the id of a commit, as the graph knows it; what the graph does not know may be one. */
  isKnownCommit(id: string): boolean {
    return this.#attempt(() => (this.#graph?.find(id) ?? -1) >= 0) ?? false
  }

  walk(query: WalkQuery, during?: During): Promise<string[] | undefined> {
    return this.#attemptAsync(() => walkCommits(this.#history(), query, during), during)
  }

  /** Commits from the tip on, itself included. */
  count(tip: string, firstParent: boolean, during?: During): Promise<number | undefined> {
    const query = { tip, firstParent, outsideMax }
    return this.#attemptAsync(
      async () => (await countCommits(this.#history(), query, during)) ?? undefined,
      during,
    )
  }

  /** Commits that changed a path, as `git log --follow` lists them. */
  walkPath(query: PathQuery, during?: During): Promise<string[] | undefined> {
    return this.#attemptAsync(() => walkPath(this.#history(), (id) => this.#tree(id), query, during), during)
  }

  #history(): History {
    return { graph: this.#graph, read: (id) => commitLinks(id, this.#commit(id).content) }
  }

  #read(id: string): StoredObject {
    const found = this.#objects.read(id)
    if (!found) throw new UnknownLayout('missing object')
    return { id, ...found }
  }

  #commit(id: string): StoredObject {
    const found = this.#read(id)
    if (found.type !== 'commit') throw new UnknownLayout('not a commit')
    return found
  }

  #tree(id: string): Buffer {
    const found = this.#read(id)
    if (found.type !== 'tree') throw new UnknownLayout('not a tree')
    return found.content
  }

  #peel(start: string): StoredObject {
    let id = start
    for (let depth = 0; depth < tagDepthMax; depth += 1) {
      const object = this.#read(id)
      if (object.type === 'commit') return object
      const target = /^object ([0-9a-f]{40})\n/.exec(object.content.toString('latin1', 0, 48))?.[1]
      if (object.type !== 'tag' || target === undefined) break
      id = target
    }
    throw new UnknownLayout('not a commit')
  }

  #attempt<T>(work: () => T): T | undefined {
    try {
      return this.#isKnown() ? work() : undefined
    } catch {
      // Whatever is wrong, git finds it too, and has words for it.
      return undefined
    }
  }

  async #attemptAsync<T>(work: () => Promise<T>, during?: During): Promise<T | undefined> {
    try {
      return this.#isKnown() ? await work() : undefined
    } catch {
      during?.signal?.throwIfAborted()
      return undefined
    }
  }

  #isKnown(): boolean {
    const now = performance.now()
    if (now - this.#checkedMs < layoutKnownMs) return this.#known
    this.#checkedMs = now
    this.#known = false
    requireKnownLayout(this.#path)
    const stamp = graphStamp(this.#path)
    if (stamp !== this.#graphStamp) {
      this.#graph = null
      this.#graph = readGraph(this.#path)
      this.#graphStamp = stamp
    }
    this.#known = true
    return true
  }
}

/** A graph that cannot be read is no loss but of speed. */
function readGraph(path: string): CommitGraph | null {
  try {
    return readCommitGraph(path)
  } catch {
    return null
  }
}
