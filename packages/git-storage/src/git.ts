import { join } from 'node:path'
import type { Commit } from '@switchyard/domain/commit'
import { GitCache } from './cache/git-cache.js'
import { ChildPool } from './children/child-pool.js'
import type { During } from './during.js'
import { processBytesDefault } from './git-process.js'
import { LocalReaders } from './objects/local-readers.js'
import type { GitEngine, OpenRepository } from './open-repository.js'
import type { DiffEntry } from './parse-diff.js'
import { type PickRequest, type PickResult, pickCommit } from './pick-commit.js'
import { type CommitPage, type CommitQuery, findCommit, findCommitId, listCommits } from './read-commits.js'
import { readDiff } from './read-diff.js'
import { readFile } from './read-file.js'
import { readStats, type StatsOfCommits } from './read-stats.js'
import { findBranchContaining, findBranchTip, findUsualBranch, hasNoBranch, pointHeadTo } from './refs.js'
import { createRepository, deleteRepository } from './repository-files.js'
import { type CommitRequest, writeCommit } from './write-commit.js'
import { BranchTurns } from './writing/branch-turns.js'
import { keepCommit } from './writing/move-refs.js'

/** The one door to git. How it answers (a process per question, a pool, a reader in here) is its own affair. */
export interface Git {
  /** @throws DomainError conflict when it exists already */
  createRepository(diskPath: string, defaultBranch: string): Promise<void>
  /** One that is gone already is fine. */
  deleteRepository(diskPath: string): Promise<void>
  /** @param during its signal ends the work; it is asked for when there is work to end */
  open(project: { diskPath: string }, during?: During): Repository
  /** Ends every process and closes every file. */
  close(): void
}

/** One repository, for the time of one request. Revisions may be any text: what cannot be one names nothing. */
export interface Repository {
  path: string
  findCommit(revision: string): Promise<Commit | null>
  findCommitId(revision: string): Promise<string | null>
  listCommits(query: CommitQuery): Promise<CommitPage>
  readStats(ids: readonly string[]): Promise<StatsOfCommits>
  readDiff(id: string): Promise<DiffEntry[]>
  readFile(commitId: string, filePath: string): Promise<Buffer | null>
  findBranchTip(branch: string): Promise<string | null>
  hasNoBranch(): Promise<boolean>
  findUsualBranch(): Promise<string | null>
  pointHeadTo(branch: string): Promise<void>
  keepCommit(id: string): Promise<void>
  findBranchContaining(id: string, preferred: string): Promise<string | null>
  writeCommit(request: CommitRequest): Promise<Commit>
  pickCommit(request: PickRequest): Promise<PickResult>
  /**
   * What was made of an object before; made now, and kept while there is room, when it is not there.
   *
   * @param key the id of the object, and all else that the value depends on
   * @param bytesOf what a value takes in memory, roughly; Infinity: it is not kept
   */
  keep<Value extends object>(
    key: string,
    make: () => Promise<Value>,
    bytesOf: (value: Value) => number,
  ): Promise<Value>
}

export interface GitOptions {
  /** Memory for answers that never change; 0: none are kept. Unset: 128 MB. */
  cacheBytesMax?: number
  /** Memory of one process that answers questions; packs do not count. Unset: 1 GiB. */
  processBytesMax?: number
}

const cacheBytesDefault = 128 * 1024 * 1024

/** @param storageRoot folder below which the bare repositories lie */
export function createGit(storageRoot: string, options: GitOptions = {}): Git {
  const { cacheBytesMax = cacheBytesDefault, processBytesMax = processBytesDefault } = options
  const engine: GitEngine = {
    processBytesMax,
    children: new ChildPool({ processBytesMax }),
    cache: new GitCache(cacheBytesMax),
    branchTurns: new BranchTurns(),
    local: new LocalReaders(),
  }
  return {
    createRepository: (diskPath, defaultBranch) => createRepository(storageRoot, diskPath, defaultBranch),
    async deleteRepository(diskPath) {
      const path = join(storageRoot, diskPath)
      await deleteRepository(storageRoot, diskPath)
      engine.children.closeRepository(path)
      engine.local.closeRepository(path)
      engine.cache.forget(path)
    },
    open: ({ diskPath }, during) =>
      openRepository({
        path: join(storageRoot, diskPath),
        engine,
        get signal() {
          return during?.signal
        },
      }),
    close() {
      engine.children.close()
      engine.local.close()
    },
  }
}

const openRepository = (repository: OpenRepository): Repository => ({
  path: repository.path,
  findCommit: (revision) => findCommit(repository, revision),
  findCommitId: (revision) => findCommitId(repository, revision),
  listCommits: (query) => listCommits(repository, query),
  readStats: (ids) => readStats(repository, ids),
  readDiff: (id) => readDiff(repository, id),
  readFile: (commitId, filePath) => readFile(repository, commitId, filePath),
  findBranchTip: (branch) => findBranchTip(repository, branch),
  hasNoBranch: () => hasNoBranch(repository),
  findUsualBranch: () => findUsualBranch(repository),
  pointHeadTo: (branch) => pointHeadTo(repository, branch),
  keepCommit: (id) => keepCommit(repository, id),
  findBranchContaining: (id, preferred) => findBranchContaining(repository, id, preferred),
  writeCommit: (request) => writeCommit(repository, request),
  pickCommit: (request) => pickCommit(repository, request),
  async keep<Value extends object>(
    key: string,
    make: () => Promise<Value>,
    bytesOf: (value: Value) => number,
  ) {
    const { path, engine } = repository
    const known = engine.cache.get<Value>(path, key)
    if (known) return known
    const made = await make()
    engine.cache.set(path, key, made, 2 * key.length + bytesOf(made))
    return made
  },
})
