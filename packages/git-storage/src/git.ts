import { join } from 'node:path'
import { KeyedMutex } from '@switchyard/service-kit/keyed-mutex'
import type { Slots } from '@switchyard/service-kit/slots'
import { GitCache } from './git-cache.js'
import { neutralRepository } from './neutral-repository.js'
import { ChildPool } from './processes/child-pool.js'
import { runGitOk } from './processes/git-process.js'
import { type GitLimits, GitSlots, type RepositoryClient } from './processes/git-slots.js'
import type { GitEngine, Repository, TakeSpace } from './repository.js'
import { countBytes, createRepository, deleteRepository } from './repository-files.js'

/** The access to git. Callers do not see whether a pooled process or a new one answers. */
export interface Git {
  /**
   * Creates a repository.
   *
   * @throws DomainError conflict when the repository exists already
   */
  createRepository(diskPath: string, defaultBranch: string): Promise<void>
  /** Deletes a repository. Does nothing when it does not exist. */
  deleteRepository(diskPath: string): Promise<void>
  /** Removes the cached answers of a repository whose folder was replaced by another repository. */
  forget(diskPath: string): void
  /** The slots of git, and those of the questions to long-running processes, for metrics. */
  readonly slots: GitSlots
  readonly questions: Slots
  /**
   * Opens a repository.
   *
   * @param client the sender; its signal cancels the work on the repository
   */
  open(project: { diskPath: string }, client?: GitClient): Repository
  /** Returns the version of the installed git. */
  readVersion(): Promise<string>
  /** Ends every process and closes every file. */
  close(): void
}

/** The sender of questions about a repository. */
export type GitClient = Pick<RepositoryClient, 'sender' | 'signal'>

/** A repository whose size can be counted. */
export interface CountedRepository {
  diskPath: string
  /** Counts the bytes of all objects of git on disk. */
  countBytes(): Promise<number>
}

export interface GitOptions extends GitLimits {
  /** Memory of the cache of immutable answers; 0: nothing is cached. Unset: 128 MB. */
  cacheBytesMax?: number
  /**
   * Runs `work`, which changes a repository, while the repository cannot be moved. Unset: repositories are
   * never moved.
   */
  withoutMove?: <Result>(diskPath: string, work: () => Promise<Result>) => Promise<Result>
  /**
   * Counts bytes that are about to be stored, and rejects with a DomainError when there is no room. Unset:
   * there always is.
   */
  takeSpace?: (repository: CountedRepository, bytes: number) => Promise<void>
}

const cacheBytesDefault = 128 * 1024 * 1024

/**
 * Creates the access to git.
 *
 * @param storageRoot folder of the bare repositories
 */
export function createGit(storageRoot: string, options: GitOptions = {}): Git {
  const { cacheBytesMax = cacheBytesDefault, withoutMove, takeSpace, ...limits } = options
  const slots = new GitSlots(limits)
  const takeSpaceOf =
    (diskPath: string, countBytes: () => Promise<number>): TakeSpace =>
    async (bytes) =>
      takeSpace?.({ diskPath, countBytes }, bytes)
  const engine: GitEngine = {
    slots,
    children: new ChildPool(slots),
    cache: new GitCache(cacheBytesMax),
    branchLocks: new KeyedMutex(),
  }
  const forget = (diskPath: string) => {
    const path = join(storageRoot, diskPath)
    engine.children.closeRepository(path)
    engine.cache.forget(path)
  }
  return {
    createRepository: (diskPath, defaultBranch) => createRepository(storageRoot, diskPath, defaultBranch),
    async deleteRepository(diskPath) {
      await deleteRepository(storageRoot, diskPath)
      forget(diskPath)
    },
    forget,
    slots,
    questions: engine.children.slots,
    open({ diskPath }, client) {
      const path = join(storageRoot, diskPath)
      return {
        path,
        engine,
        withoutMove: withoutMove ? (work) => withoutMove(diskPath, work) : (work) => work(),
        takeSpace: takeSpaceOf(diskPath, () => countBytes({ path, signal: client?.signal })),
        sender: client?.sender,
        get signal() {
          return client?.signal
        },
      }
    },
    readVersion,
    close() {
      engine.children.close()
    },
  }
}

/**
 * Returns the version of the installed git, such as `2.39.5`.
 *
 * @throws DomainError unavailable after two seconds
 */
async function readVersion(): Promise<string> {
  const { stdout } = await runGitOk(neutralRepository, { command: 'version' }, { timeoutMs: 2_000 })
  return stdout
    .toString()
    .replace(/^git version /, '')
    .trim()
}
