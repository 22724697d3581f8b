import type { JobIdentity } from '@switchyard/domain/access'
import type { Commit } from '@switchyard/domain/commit'
import type { StoredBlob } from '@switchyard/git-storage/blobs'
import type { DiffEntry } from '@switchyard/git-storage/parse-diff'
import type { PipelineWithAuthor } from '../pipelines/store.js'
import type { ReleaseWithLinks } from '../releases/store.js'

/** A branch, its newest commit, and what its protections mean for the caller. */
export interface BranchView {
  name: string
  commit: Commit
  isDefault: boolean
  /** Whether the default branch contains the branch and has more commits. */
  isMerged: boolean
  isProtected: boolean
  developersCanPush: boolean
  developersCanMerge: boolean
  callerCanPush: boolean
}

/** A tag and its commit. */
export interface TagView {
  name: string
  /** Id of the object of an annotated tag, else of the commit. */
  target: string
  /** Null when the tag does not point to a commit. */
  commit: Commit | null
  /** Empty for a lightweight tag. */
  message: string
  /** Null for a lightweight tag. */
  taggedAt: Date | null
  isProtected: boolean
  /** Null: the tag has no release. */
  release: { description: string | null } | null
}

/** A release, and the parts of it that depend on the repository and on the caller. */
export interface ReleaseView {
  release: ReleaseWithLinks
  /** Null when the tag does not point to a commit, or does not exist any more. */
  commit: Commit | null
  /** Whether the caller may read the code of the project. */
  showsCode: boolean
}

/** A pipeline, and whether its ref is a tag. */
export interface PipelineView {
  pipeline: PipelineWithAuthor
  /** Whether its ref is a tag and no branch. */
  isTag: boolean
}

/** What the jobs of a pipeline have in common. */
export interface JobView extends PipelineView {
  /** Null when the commit is gone from the repository. */
  commit: Commit | null
}

/** How a commit is signed. */
export type SignatureKind = 'PGP' | 'SSH' | 'X509'

/** A file at a revision. */
export interface FileView {
  path: string
  /** As in the request. */
  revision: string
  blob: StoredBlob
  sha256: string
  commitId: string
  /** The newest commit that changed the file. */
  lastCommitId: string
  isExecutable: boolean
}

/** Adjacent lines of a file, without line breaks, and the commit that wrote them. */
export interface BlamedLinesView {
  commit: Commit
  lines: string[]
}

/** The commits and changes of a revision that another one does not have. */
export interface Comparison {
  /** The oldest first. */
  commits: Commit[]
  /** How many commits there are, also those left out. */
  commitsTotal: number
  diffs: DiffEntry[]
  /** Whether git could not compare the revisions in time or within its memory, or a patch is left out because of a limit. */
  isIncomplete: boolean
  isSame: boolean
}

/** The number of commits of a project, and its size on disk. */
export interface ProjectStatistics {
  /** Of the default branch. */
  commitCount: number
  /** Objects of git. */
  repositoryBytes: number
  lfsObjectBytes: number
  reportBytes: number
  /** Most bytes that both may take; null: no limit. */
  bytesMax: number | null
}

/** Of an object of Git LFS. `missing`: not stored; `refused`: it can never be stored, with the reason. */
export type LfsObjectState = { state: 'stored' | 'missing' } | { state: 'refused'; reason: string }

/** The state and the newest pipeline of a commit, which follow from its statuses, and who brought it. */
export interface CommitState {
  /** The state that follows from all statuses; null without any. */
  status: string | null
  /** The newest pipeline of any ref; null without a status. */
  lastPipeline: PipelineWithAuthor | null
  /** The CI job that brought the commit; null: no job by its identity token. */
  job: JobIdentity | null
}
