import { join } from 'node:path'
import type { Commit, CommitStats } from '@switchyard/domain/commit'
import type { DiffEntry } from './parse-diff.js'
import { type PickRequest, type PickResult, pickCommit } from './pick-commit.js'
import { type CommitPage, type CommitQuery, findCommit, listCommits, readStats } from './read-commits.js'
import { readDiff } from './read-diff.js'
import { readFile } from './read-file.js'
import {
  findBranchContaining,
  findBranchTip,
  findUsualBranch,
  hasNoBranch,
  keepCommit,
  pointHeadTo,
} from './refs.js'
import { createRepository, deleteRepository } from './repository-files.js'
import { type CommitRequest, writeCommit } from './write-commit.js'

/** The one door to git. How it answers (a process per question, a pool, a reader in here) is its own affair. */
export interface Git {
  /** @throws DomainError conflict when it exists already */
  createRepository(diskPath: string, defaultBranch: string): Promise<void>
  /** One that is gone already is fine. */
  deleteRepository(diskPath: string): Promise<void>
  /** @param signal ends the work when the request that asked for it does */
  open(project: { diskPath: string }, signal?: AbortSignal): Repository
}

/** One repository, for the time of one request. Revisions may be any text: what cannot be one names nothing. */
export interface Repository {
  path: string
  findCommit(revision: string): Promise<Commit | null>
  listCommits(query: CommitQuery): Promise<CommitPage>
  readStats(ids: readonly string[]): Promise<Map<string, CommitStats>>
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
}

/** @param storageRoot folder below which the bare repositories lie */
export function createGit(storageRoot: string): Git {
  return {
    createRepository: (diskPath, defaultBranch) => createRepository(storageRoot, diskPath, defaultBranch),
    deleteRepository: (diskPath) => deleteRepository(storageRoot, diskPath),
    open({ diskPath }, signal) {
      const path = join(storageRoot, diskPath)
      return {
        path,
        findCommit: (revision) => findCommit(path, revision, signal),
        listCommits: (query) => listCommits(path, query, signal),
        readStats: (ids) => readStats(path, ids, signal),
        readDiff: (id) => readDiff(path, id, signal),
        readFile: (commitId, filePath) => readFile(path, commitId, filePath, signal),
        findBranchTip: (branch) => findBranchTip(path, branch, signal),
        hasNoBranch: () => hasNoBranch(path, signal),
        findUsualBranch: () => findUsualBranch(path, signal),
        pointHeadTo: (branch) => pointHeadTo(path, branch, signal),
        keepCommit: (id) => keepCommit(path, id, signal),
        findBranchContaining: (id, preferred) => findBranchContaining(path, id, preferred, signal),
        writeCommit: (request) => writeCommit(path, request, signal),
        pickCommit: (request) => pickCommit(path, request, signal),
      }
    },
  }
}
