import type { GitCache } from './cache/git-cache.js'
import type { Cancellable } from './cancellable.js'
import type { ChildPool } from './children/child-pool.js'
import type { LocalReaders } from './objects/local-readers.js'
import type { BranchTurns } from './writing/branch-turns.js'

/** What answers questions about repositories, shared by all requests of this process. */
export interface GitEngine {
  /** Memory of one process. */
  processBytesMax: number
  children: ChildPool
  cache: GitCache
  branchTurns: BranchTurns
  /** Reads what it understands without a process; whatever it does not is git's own. */
  local: LocalReaders
}

/** One repository for the time of one request. */
export interface OpenRepository extends Cancellable {
  /** Of the bare repository. */
  path: string
  engine: GitEngine
}
