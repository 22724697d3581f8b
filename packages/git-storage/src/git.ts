import { join } from 'node:path'
import type { Writable } from 'node:stream'
import type { Commit, NewTagObject } from '@switchyard/domain/commit'
import { type ByteRange, hashBlob, readBlob, readStart, writeBlob } from './blobs.js'
import { GitCache } from './cache/git-cache.js'
import type { Cancellable } from './cancellable.js'
import { ChildPool } from './children/child-pool.js'
import { commitsBetween, diffBetween, findMergeBase } from './compare.js'
import { processBytesDefault } from './git-process.js'
import { sizeByGit } from './object-reader.js'
import type { OnFallback } from './objects/fallbacks.js'
import { LocalReaders } from './objects/local-readers.js'
import type { GitEngine, OpenRepository } from './open-repository.js'
import type { DiffEntry } from './parse-diff.js'
import { type PickRequest, type PickResult, pickCommit } from './pick-commit.js'
import {
  type CommitPage,
  type CommitQuery,
  findCommit,
  findCommitId,
  lastCommitOf,
  listCommits,
} from './read-commits.js'
import { readDiff } from './read-diff.js'
import { readFile } from './read-file.js'
import { readStats, type StatsOfCommits } from './read-stats.js'
import {
  findMerged,
  findTagTarget,
  listReferences,
  type Reference,
  type ReferenceQuery,
  readAnnotations,
  type TagAnnotation,
} from './references.js'
import {
  findBranchContaining,
  findBranchTip,
  findReferencesContaining,
  findUsualBranch,
  hasNoBranch,
  pointHeadTo,
} from './refs.js'
import { createRepository, deleteRepository } from './repository-files.js'
import { type FileEntry, type FolderEntry, findFile, listFolder } from './trees.js'
import { type CommitRequest, writeCommit } from './write-commit.js'
import { BranchTurns } from './writing/branch-turns.js'
import { keepCommit, moveReference, type ReferenceMove } from './writing/move-refs.js'
import { writeTag } from './writing/write-tag.js'

/** A blob that exists, and its size in bytes. */
export interface Blob {
  id: string
  size: number
}

/** The one door to git. Callers need not know whether a pooled process, a new process or the local reader answers. */
export interface Git {
  /** @throws DomainError conflict when it exists already */
  createRepository(diskPath: string, defaultBranch: string): Promise<void>
  /** One that is gone already is fine. */
  deleteRepository(diskPath: string): Promise<void>
  /** @param cancellable its signal ends the work on the repository */
  open(project: { diskPath: string }, cancellable?: Cancellable): Repository
  /** Ends every process and closes every file. */
  close(): void
}

/** One repository, for the time of one request. Revisions may be any text; a malformed one names no commit. */
export interface Repository {
  path: string
  findCommit(revision: string): Promise<Commit | null>
  findCommitId(revision: string): Promise<string | null>
  listCommits(query: CommitQuery): Promise<CommitPage>
  readStats(ids: readonly string[]): Promise<StatsOfCommits>
  readDiff(id: string): Promise<DiffEntry[]>
  /** The newest commit, from one on backwards, that changed a path; null when none did. */
  findLastCommitOf(from: string, path: string): Promise<string | null>
  listFolder(folder: {
    treeId: string
    folderPath: string
    isRecursive: boolean
  }): Promise<FolderEntry[] | null>
  findFile(treeId: string, filePath: string): Promise<FileEntry | null>
  /** Bytes of a blob; null when there is none with this id. */
  sizeOf(blobId: string): Promise<number | null>
  writeBlob(blob: Blob, output: Writable, range?: ByteRange): Promise<void>
  hashBlob(blob: Blob): Promise<string>
  readBlob(blob: Blob, bytesMax: number): Promise<Buffer>
  /** The first bytes of a file. */
  readStart(blob: Blob, bytesMax: number): Promise<Buffer>
  readFile(commitId: string, filePath: string): Promise<Buffer | null>
  findBranchTip(branch: string): Promise<string | null>
  findTagTarget(tag: string): Promise<string | null>
  hasNoBranch(): Promise<boolean>
  findUsualBranch(): Promise<string | null>
  pointHeadTo(branch: string): Promise<void>
  keepCommit(id: string): Promise<void>
  findBranchContaining(id: string, preferred: string): Promise<string | null>
  findReferencesContaining(id: string, folder: 'refs/heads/' | 'refs/tags/'): Promise<string[]>
  findMergeBase(ids: readonly string[]): Promise<string | null>
  diffBetween(from: string, to: string): Promise<DiffEntry[]>
  commitsBetween(range: { from: string; to: string; take: number }): Promise<{ ids: string[]; total: number }>
  listReferences(query: ReferenceQuery): Promise<Reference[]>
  findMerged(branches: readonly string[], commitId: string): Promise<Set<string>>
  readAnnotations(tags: readonly string[]): Promise<Map<string, TagAnnotation>>
  moveReference(move: ReferenceMove): Promise<boolean>
  writeTag(tag: NewTagObject): Promise<string>
  writeCommit(request: CommitRequest): Promise<Commit>
  pickCommit(request: PickRequest): Promise<PickResult>
  /**
   * A value that was computed from an immutable object, from the cache or computed now.
   *
   * @param key the id of the object, and everything else that the value depends on
   * @param bytesOf memory of a value, roughly; Infinity: it is not cached
   */
  getOrCompute<Value extends object>(
    key: string,
    compute: () => Promise<Value>,
    bytesOf: (value: Value) => number,
  ): Promise<Value>
}

export interface GitOptions {
  /** Memory for answers that never change; 0: none are kept. Unset: 128 MB. */
  cacheBytesMax?: number
  /** Memory of one process that answers questions; packs do not count. Unset: 1 GiB. */
  processBytesMax?: number
  /** Told each time that a question is left to a git process. Unset: nobody is. */
  onFallback?: OnFallback
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
    local: new LocalReaders(options.onFallback ?? (() => undefined)),
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
    open: ({ diskPath }, cancellable) =>
      openRepository({
        path: join(storageRoot, diskPath),
        engine,
        get signal() {
          return cancellable?.signal
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
  findLastCommitOf: (from, path) => lastCommitOf(repository, from, path),
  listFolder: (folder) => listFolder(repository, folder),
  findFile: (treeId, filePath) => findFile(repository, treeId, filePath),
  sizeOf: (blobId) => sizeByGit(repository, blobId),
  writeBlob: (blob, output, range) => writeBlob(repository, blob, output, range),
  hashBlob: (blob) => hashBlob(repository, blob),
  readStart: (blob, bytesMax) => readStart(repository, blob, bytesMax),
  readBlob: (blob, bytesMax) => readBlob(repository, blob, bytesMax),
  readFile: (commitId, filePath) => readFile(repository, commitId, filePath),
  findBranchTip: (branch) => findBranchTip(repository, branch),
  findTagTarget: (tag) => findTagTarget(repository, tag),
  hasNoBranch: () => hasNoBranch(repository),
  findUsualBranch: () => findUsualBranch(repository),
  pointHeadTo: (branch) => pointHeadTo(repository, branch),
  keepCommit: (id) => keepCommit(repository, id),
  findReferencesContaining: (id, folder) => findReferencesContaining(repository, id, folder),
  findMergeBase: (ids) => findMergeBase(repository, ids),
  diffBetween: (from, to) => diffBetween(repository, from, to),
  commitsBetween: (range) => commitsBetween(repository, range),
  findBranchContaining: (id, preferred) => findBranchContaining(repository, id, preferred),
  listReferences: (query) => listReferences(repository, query),
  findMerged: (branches, commitId) => findMerged(repository, branches, commitId),
  readAnnotations: (tags) => readAnnotations(repository, tags),
  moveReference: (move) => moveReference(repository, move),
  writeTag: (tag) => writeTag(repository, tag),
  writeCommit: (request) => writeCommit(repository, request),
  pickCommit: (request) => pickCommit(repository, request),
  async getOrCompute<Value extends object>(
    key: string,
    compute: () => Promise<Value>,
    bytesOf: (value: Value) => number,
  ) {
    const { path, engine } = repository
    const known = engine.cache.get<Value>(path, key)
    if (known) return known
    const value = await compute()
    engine.cache.set(path, key, value, 2 * key.length + bytesOf(value))
    return value
  },
})
