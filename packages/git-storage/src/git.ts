import { join } from 'node:path'
import type { Writable } from 'node:stream'
import type { LfsObject, NewTagObject } from '@switchyard/domain/commit'
import { KeyedMutex } from '@switchyard/service-kit/keyed-mutex'
import type { Slots } from '@switchyard/service-kit/slots'
import { type ArchiveRequest, writeArchive } from './archive.js'
import { type BlameQuery, blameFile } from './blame.js'
import {
  type ByteRange,
  findBlob,
  hashBlob,
  readBlob,
  readStart,
  type StoredBlob,
  writeBlob,
} from './blobs.js'
import { GitCache } from './cache/git-cache.js'
import { ChildPool } from './children/child-pool.js'
import { type CommitRange, commitsBetween, findMergeBase } from './compare.js'
import { type Compared, diffBetween, diffFromMergeBase, listChanges, readFileDiff } from './diff-between.js'
import { runGitOk } from './git-process.js'
import { type GitLimits, GitSlots, type RepositoryClient } from './git-slots.js'
import {
  findLfsObject,
  type LfsReading,
  listLfsObjects,
  renewLfsObject,
  storeLfsObject,
  writeLfsObject,
} from './lfs-objects.js'
import { listContributors } from './list-contributors.js'
import { neutralRepository } from './neutral-repository.js'
import type { GitEngine, OpenRepository, TakeSpace } from './open-repository.js'
import { type PickRequest, pickCommit } from './pick-commit.js'
import { type CommitQuery, findCommit, findCommitId, lastCommitOf, listCommits } from './read-commits.js'
import { readDiff } from './read-diff.js'
import { readFile } from './read-file.js'
import { readSignatureText } from './read-signature.js'
import { readStats } from './read-stats.js'
import {
  findMerged,
  findTagTarget,
  listReferences,
  type ReferenceQuery,
  readAnnotations,
} from './references.js'
import {
  findBranchContaining,
  findBranchTip,
  findReferencesContaining,
  findRefs,
  findUsualBranch,
  hasNoBranch,
  pointHeadTo,
} from './refs.js'
import { countBytes, createRepository, deleteRepository } from './repository-files.js'
import { readTagMessage, writeTag } from './tags.js'
import { type FolderQuery, findFile, hasEntry, listFolder } from './trees.js'
import { type CommitRequest, previewCommit, writeCommit } from './write-commit.js'
import { keepCommit, moveReference, type ReferenceMove } from './writing/move-refs.js'

/** The entry point to git. It hides whether a pooled process or a new one answers. */
export interface Git {
  /** @throws DomainError conflict when the repository exists already */
  createRepository(diskPath: string, defaultBranch: string): Promise<void>
  /** Does nothing when there is no such repository. */
  deleteRepository(diskPath: string): Promise<void>
  /** Drops what is cached of a repository whose folder was replaced by another repository. */
  forget(diskPath: string): void
  /** What git may use, and the questions to resident processes, for metrics. */
  readonly slots: GitSlots
  readonly questions: Slots
  /** @param client who asks; its signal cancels the work on the repository */
  open(project: { diskPath: string }, client?: GitClient): Repository
  /** The version of the installed git. */
  readVersion(): Promise<string>
  /** Ends every process and closes every file. */
  close(): void
}

/** Who asks about a repository. */
export type GitClient = Pick<RepositoryClient, 'sender' | 'signal'>

/** One repository for the time of one request. A revision may be any text; malformed text names no commit. */
export type Repository = ReturnType<typeof openRepository>

/** A repository whose size can be counted. */
export interface CountedRepository {
  diskPath: string
  /** Bytes of all objects of git on disk. */
  countBytes(): Promise<number>
}

export interface GitOptions extends GitLimits {
  /** Memory of the cache of immutable answers; 0: nothing is cached. Unset: 128 MB. */
  cacheBytesMax?: number
  /** Runs `work`, which changes a repository, while the repository cannot be moved. Unset: repositories are never moved. */
  withoutMove?: <Result>(diskPath: string, work: () => Promise<Result>) => Promise<Result>
  /** Counts bytes that are about to be stored, and rejects with a DomainError when there is no room. Unset: there always is. */
  takeSpace?: (repository: CountedRepository, bytes: number) => Promise<void>
}

const cacheBytesDefault = 128 * 1024 * 1024

/** @param storageRoot folder of the bare repositories */
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
      return openRepository({
        path,
        engine,
        withoutMove: withoutMove ? (work) => withoutMove(diskPath, work) : (work) => work(),
        takeSpace: takeSpaceOf(diskPath, () => countBytes({ path, signal: client?.signal })),
        sender: client?.sender,
        get signal() {
          return client?.signal
        },
      })
    },
    readVersion,
    close() {
      engine.children.close()
    },
  }
}

/** The version of the installed git, such as `2.39.5`. @throws DomainError unavailable after two seconds */
async function readVersion(): Promise<string> {
  const { stdout } = await runGitOk(neutralRepository, { command: 'version' }, { timeoutMs: 2_000 })
  return stdout
    .toString()
    .replace(/^git version /, '')
    .trim()
}

const lfsOf = (repository: OpenRepository) => ({
  listLfsObjects: () => listLfsObjects(repository),
  findLfsObject: (oid: string) => findLfsObject(repository, oid),
  renewLfsObject: (oid: string) => renewLfsObject(repository, oid),
  storeLfsObject: (object: LfsObject, chunks: AsyncIterable<Buffer>) =>
    storeLfsObject(repository, object, chunks),
  writeLfsObject: (oid: string, output: Writable, reading: LfsReading) =>
    writeLfsObject(repository, oid, output, reading),
})

const openRepository = (repository: OpenRepository) => ({
  path: repository.path,
  withoutMove: repository.withoutMove,
  /** Does work in which git sends its output to the client, such as a fetch, when the client has a slot for it. */
  inStream: (work: () => Promise<void>) => repository.engine.slots.runStream(repository, work),
  takeSpace: repository.takeSpace,
  findCommit: (revision: string) => findCommit(repository, revision),
  findCommitId: (revision: string) => findCommitId(repository, revision),
  listCommits: (query: CommitQuery) => listCommits(repository, query),
  readStats: (ids: readonly string[]) => readStats(repository, ids),
  readDiff: (id: string) => readDiff(repository, id),
  listChanges: (compared: Compared) => listChanges(repository, compared),
  readFileDiff: (compared: Compared, filePath: string) => readFileDiff(repository, compared, filePath),
  readFile: (commitId: string, filePath: string) => readFile(repository, commitId, filePath),
  /** Object ids of references by full, valid name. */
  findRefs: (names: readonly string[]) => findRefs(repository, names),
  findBranchTip: (branch: string) => findBranchTip(repository, branch),
  hasNoBranch: () => hasNoBranch(repository),
  findUsualBranch: () => findUsualBranch(repository),
  pointHeadTo: (branch: string) => pointHeadTo(repository, branch),
  keepCommit: (id: string) => keepCommit(repository, id),
  findBranchContaining: (id: string, preferred: string) => findBranchContaining(repository, id, preferred),
  /** The newest commit, from one on backwards, that changed a path; null when none did. */
  findLastCommitOf: (from: string, path: string) => lastCommitOf(repository, from, path),
  listFolder: (query: FolderQuery) => listFolder(repository, query),
  hasEntry: (treeId: string, path: string) => hasEntry(repository, treeId, path),
  findFile: (treeId: string, filePath: string) => findFile(repository, treeId, filePath),
  /** Bytes of all objects of git on disk. */
  countBytes: () => countBytes(repository),
  ...lfsOf(repository),
  findBlob: (id: string) => findBlob(repository, id),
  writeArchive: (archive: ArchiveRequest, output: Writable) => writeArchive(repository, archive, output),
  blameFile: (query: BlameQuery) => blameFile(repository, query),
  listContributors: (commitId: string) => listContributors(repository, commitId),
  readTagMessage: (id: string) => readTagMessage(repository, id),
  readSignatureText: (id: string) => readSignatureText(repository, id),
  writeBlob: (blob: StoredBlob, output: Writable, range?: ByteRange) =>
    writeBlob(repository, blob, output, range),
  hashBlob: (blob: StoredBlob) => hashBlob(repository, blob),
  /** The first bytes of a file. */
  readStart: (blob: StoredBlob, bytesMax: number) => readStart(repository, blob, bytesMax),
  readBlob: (blob: StoredBlob) => readBlob(repository, blob),
  findTagTarget: (tag: string) => findTagTarget(repository, tag),
  findReferencesContaining: (id: string, folder: 'refs/heads/' | 'refs/tags/') =>
    findReferencesContaining(repository, id, folder),
  findMergeBase: (ids: readonly string[]) => findMergeBase(repository, ids),
  diffBetween: (from: string, to: string) => diffBetween(repository, from, to),
  diffFromMergeBase: (from: string, to: string) => diffFromMergeBase(repository, from, to),
  commitsBetween: (range: CommitRange) => commitsBetween(repository, range),
  listReferences: (query: ReferenceQuery) => listReferences(repository, query),
  findMerged: (branches: readonly string[], commitId: string) => findMerged(repository, branches, commitId),
  readAnnotations: (tags: readonly string[]) => readAnnotations(repository, tags),
  moveReference: (move: ReferenceMove) => moveReference(repository, move),
  writeTag: (tag: NewTagObject) => writeTag(repository, tag),
  writeCommit: (request: CommitRequest) => writeCommit(repository, request),
  previewCommit: (request: Pick<CommitRequest, 'parent' | 'edits'>) => previewCommit(repository, request),
  pickCommit: (request: PickRequest) => pickCommit(repository, request),
  /** The cached or computed value for a key: see `GitCache.getOrCompute`. */
  getOrCompute: <Value extends object>(
    key: string,
    compute: () => Promise<Value>,
    bytesOf: (value: Value) => number,
  ) => repository.engine.cache.getOrCompute(repository.path, key, compute, bytesOf),
})
