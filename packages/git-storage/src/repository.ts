import type { RefChange } from '@switchyard/domain/access'
import type { KeyedMutex } from '@switchyard/service-kit/keyed-mutex'
import type { GitCache } from './git-cache.js'
import type { ChildPool } from './processes/child-pool.js'
import type { GitContext, GitSlots } from './processes/git-slots.js'

/**
 * A function that runs `work`, which changes a repository, while the repository cannot be moved to another
 * storage.
 *
 * @throws DomainError unavailable, without running `work`, when the repository has been moved to another
 * storage
 */
export type WithoutMove = <Result>(work: () => Promise<Result>) => Promise<Result>

/**
 * A function that counts bytes that are about to be stored in a repository.
 *
 * @throws DomainError when there is no room for them
 */
export type TakeSpace = (bytes: number) => Promise<void>

/**
 * A function that receives changes of references before they happen, and prevents them by rejecting.
 *
 * @returns a function that forgets these changes, which is called when git has refused them
 */
export type RecordIntent = (changes: readonly RefChange[]) => Promise<() => Promise<void>>

/** The parts that read and write repositories, shared by all requests of this process. */
export interface GitEngine {
  slots: GitSlots
  children: ChildPool
  cache: GitCache
  /** Locks of branches, with one key for each branch of a repository. */
  branchLocks: KeyedMutex
}

/** One repository for the time of one request. A revision may be any text; malformed text names no commit. */
export interface Repository extends GitContext {
  engine: GitEngine
  withoutMove: WithoutMove
  takeSpace: TakeSpace
}

/** Returns the cached or computed value for a key of a repository: see {@link GitCache.getOrCompute}. */
export const getOrCompute = <Value extends object>(
  { engine, path }: Pick<Repository, 'engine' | 'path'>,
  key: string,
  compute: () => Promise<Value>,
  bytesOf: (value: Value) => number,
): Promise<Value> => engine.cache.getOrCompute(path, key, compute, bytesOf)
