import type { RefChange } from '@switchyard/domain/access'
import type { GitCache } from './cache/git-cache.js'
import type { Cancellable } from './cancellable.js'
import type { ChildPool } from './children/child-pool.js'
import type { BranchTurns } from './writing/branch-turns.js'

/** Runs a change of a repository; refuses to run it when the repository lies in another storage by now. */
export type Change = <Result>(work: () => Promise<Result>) => Promise<Result>

/** Is told of changes of references before they happen; what it rejects with prevents them. */
export type Foresee = (changes: readonly RefChange[]) => Promise<void>

/** The parts that answer questions about repositories, shared by all requests of this process. */
export interface GitEngine {
  /** Memory of one git process. */
  processBytesMax: number
  children: ChildPool
  cache: GitCache
  branchTurns: BranchTurns
}

/** One repository for the time of one request. */
export interface OpenRepository extends Cancellable {
  /** Path of the bare repository. */
  path: string
  engine: GitEngine
  /** Moves references in `work` while the repository stays in its storage. */
  change: Change
}
