import { isUtf8 } from 'node:buffer'
import type { Writable } from 'node:stream'
import { DomainError, invalid, invalidParameters, notFound, tooLarge } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import {
  type Commit,
  type CommitAction,
  defaultBranchRef,
  isFullHash,
  lfsPointerBytesMax,
  lineCountOf,
  parseFilePath,
  parseLfsPointer,
  plainPath,
} from '@switchyard/domain/commit'
import { findCommit, findLastCommitOf } from '@switchyard/git-storage/commits'
import {
  type ByteRange,
  blameFile,
  type FolderEntry,
  findBlob,
  findFile,
  hashBlob,
  listFolder,
  readBlob,
  readStart,
  type StoredBlob,
  writeBlob,
} from '@switchyard/git-storage/files'
import { getOrCompute, type Repository } from '@switchyard/git-storage/repository'
import type { Call, Window } from '@switchyard/service-kit/http'
import type { ProjectCall } from '../../guards.js'
import {
  type CommitDependencies,
  type CommitDescription,
  type CreateCommitCommand,
  createCommit,
} from '../commits/commits.js'
import { type FileTransfers, openLfsObject } from '../lfs/lfs.js'

/** A file at a revision. */
export interface FileView {
  path: string
  /** The revision as the request names it. */
  revision: string
  blob: StoredBlob
  sha256: string
  commitId: string
  /** The newest commit that changed the file. */
  lastCommitId: string
  isExecutable: boolean
}

/** Adjacent lines of a file, without line breaks, and the commit that changed them last. */
export interface BlamedLinesView {
  commit: Commit
  lines: string[]
}

export type FileDependencies = CommitDependencies & FileTransfers

interface FileQuery {
  path: string
  /** A branch, tag or hash. */
  revision: string
}

/** Approximate memory of a cached id or hash. */
const idBytes = 64
/** Largest content in JSON. Only the endpoints for raw content send larger files. */
const contentBytesMax = 32 * 1024 * 1024
/** Number of first bytes that decide whether a file is text. */
const sniffedBytes = 8000

/**
 * Returns the properties of a file.
 *
 * @throws DomainError invalid-parameters for a path that leaves the repository; not-found for a revision that
 *   names no commit, and for a path that is not a file; rate-limited when too many large files are read for
 *   the sender
 */
export async function describeFile(access: ProjectCall, query: FileQuery): Promise<FileView> {
  return toFileView(access, await locate(access, query))
}

/**
 * Returns the properties and the bytes of a file.
 *
 * @throws DomainError like {@link describeFile}; too-large for more than 32 MB
 */
export async function readFile(
  access: ProjectCall,
  query: FileQuery,
): Promise<{ file: FileView; content: Buffer }> {
  const located = await locate(access, query)
  if (located.blob.size > contentBytesMax) {
    throw tooLarge('The file is too large for this answer; ask for its raw content')
  }
  const file = await toFileView(access, located)
  return { file, content: await readBlob(access.repository, located.blob) }
}

/** Bytes that are sent unchanged. */
export interface RawContent {
  /** The blob, or the object of Git LFS. */
  blob: StoredBlob
  isText: boolean
  /** Writes a part of the bytes in bounded memory; the caller ends the stream. */
  write(output: Writable, range: ByteRange): Promise<void>
}

/**
 * Opens a file whose bytes are sent unchanged.
 *
 * @param query with `lfs`, a pointer of Git LFS is replaced by its object
 * @throws DomainError like {@link describeFile}; not-found for a pointer whose object is not stored
 */
export async function openRawFile(
  deps: FileDependencies,
  access: ProjectCall,
  query: FileQuery & { lfs: boolean },
  call: Call,
): Promise<{ file: FileView; content: RawContent }> {
  const file = await describeFile(access, query)
  const { blob } = file
  const mayBePointer = query.lfs && access.project.lfsEnabled && blob.size <= lfsPointerBytesMax
  const pointer = mayBePointer ? await readPointer(access, blob) : null
  if (!pointer) return { file, content: await openContent(access, blob) }
  const { oid, size, write } = await openLfsObject(deps, access, pointer.oid, call)
  return { file, content: { blob: { id: oid, size }, isText: false, write } }
}

/**
 * Opens the bytes of a blob.
 *
 * @throws DomainError rate-limited when too many large files are read for the sender
 */
async function openContent({ repository }: ProjectCall, blob: StoredBlob): Promise<RawContent> {
  return {
    blob,
    isText: isText(await readStart(repository, blob, sniffedBytes)),
    write: (output, range) => writeBlob(repository, blob, output, range),
  }
}

const readPointer = async ({ repository }: ProjectCall, blob: StoredBlob) =>
  parseLfsPointer((await readBlob(repository, blob)).toString())

/** @param start the first bytes of a file, which may end within a character */
const isText = (start: Buffer): boolean =>
  !start.includes(0) && [0, 1, 2, 3].some((cut) => isUtf8(start.subarray(0, start.length - cut)))

type LocatedFile = Omit<FileView, 'sha256' | 'lastCommitId'>

async function locate(
  { repository }: ProjectCall,
  { path: given, revision }: FileQuery,
): Promise<LocatedFile> {
  requireInside(given)
  const path = plainPath(given)
  const commit = await findCommit(repository, revision)
  if (!commit) throw notFound('Commit')
  const entry = await findFile(repository, commit.treeId, path)
  const blob = entry && (await findKnownBlob(repository, entry.blobId))
  if (!blob) throw notFound('File')
  return { path, revision, blob, commitId: commit.id, isExecutable: entry.isExecutable }
}

/** Finds the blob of a file in a tree. */
async function findKnownBlob(repository: Repository, id: string): Promise<StoredBlob | null> {
  const find = async () => ({ blob: await findBlob(repository, id) })
  const bytesOf = ({ blob }: { blob: StoredBlob | null }) => (blob ? idBytes : Number.POSITIVE_INFINITY)
  return (await getOrCompute(repository, `blob ${id}`, find, bytesOf)).blob
}

function requireInside(path: string): void {
  if (parseFilePath(path) === 'traversal') throw invalidParameters(['file_path should be a valid file path'])
}

async function toFileView({ repository }: ProjectCall, located: LocatedFile): Promise<FileView> {
  const { blob, commitId, path } = located
  const [{ sha256 }, lastCommitId] = await Promise.all([
    getOrCompute(
      repository,
      `sha256 ${blob.id}`,
      async () => ({ sha256: await hashBlob(repository, blob) }),
      () => idBytes,
    ),
    findLastCommitOf(repository, commitId, path),
  ])
  return { ...located, sha256, lastCommitId: lastCommitId ?? commitId }
}

/** A change of one file, stored as one commit. */
interface FileChange
  extends Omit<CreateCommitCommand, 'actions' | 'startSha' | 'force' | 'allowEmpty' | 'withStats'> {
  action: CommitAction
}

/**
 * Commits a file that is created or updated.
 *
 * @returns the file in the new commit
 * @throws DomainError invalid-parameters for a path that leaves the repository; as {@link createCommit}
 */
export async function writeFile(
  deps: FileDependencies,
  access: ProjectCall<Caller>,
  change: FileChange,
  call: Call,
): Promise<FileView> {
  const { commit } = await commitFile(deps, access, change, call)
  return describeFile(access, { path: change.action.file_path, revision: commit.id })
}

/** Commits the deletion of a file. @throws DomainError as {@link writeFile} */
export async function deleteFile(
  deps: FileDependencies,
  access: ProjectCall<Caller>,
  change: FileChange,
  call: Call,
): Promise<void> {
  await commitFile(deps, access, change, call)
}

/** Commits a change of one file. @throws DomainError as {@link writeFile} */
export async function commitFile(
  deps: FileDependencies,
  access: ProjectCall<Caller>,
  { action, ...command }: FileChange,
  call: Call,
): Promise<CommitDescription> {
  requireInside(action.file_path)
  try {
    const changes = { actions: [action], force: false, allowEmpty: false, withStats: false }
    return await createCommit(deps, access, { ...command, ...changes }, call)
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    // The request has one file and no list of actions, so the index of an action is left out.
    const { action_index, ...extra } = error.extra
    const { retryAfterMs } = error
    throw new DomainError(error.kind, error.detail, { extra, retryAfterMs, cause: error })
  }
}

/** Returns a blob and its bytes. @throws DomainError not-found; too-large for more than 32 MB */
export async function readBlobById(
  { repository }: ProjectCall,
  id: string,
): Promise<{ blob: StoredBlob; content: Buffer }> {
  const blob = await getBlob({ repository }, id)
  if (blob.size > contentBytesMax) {
    throw tooLarge('The blob is too large for this answer; ask for its raw content')
  }
  return { blob, content: await readBlob(repository, blob) }
}

/** @throws DomainError not-found; rate-limited when too many large files are read for the sender */
export const openRawBlob = async (access: ProjectCall, id: string): Promise<RawContent> =>
  openContent(access, await getBlob(access, id))

async function getBlob({ repository }: Pick<ProjectCall, 'repository'>, id: string): Promise<StoredBlob> {
  const hash = id.toLowerCase()
  const blob = isFullHash(hash) ? await findBlob(repository, hash) : null
  if (!blob) throw notFound('Blob')
  return blob
}

interface TreeQuery {
  /** A branch, tag or hash; undefined: the default branch. */
  revision: string | undefined
  /** Path of the folder; empty: the root. */
  path: string
  isRecursive: boolean
  /** Undefined: every entry. */
  window: Window | undefined
}

/**
 * Lists one window of the entries of a folder. Within it, folders come first, then files, then submodules,
 * each in git's order.
 *
 * @throws DomainError not-found for a revision that names no commit, and for a path that is not a folder;
 *   invalid-parameters for a window that begins after an entry that does not exist
 */
export async function listTree(
  { project, repository }: ProjectCall,
  { revision, path, isRecursive, window }: TreeQuery,
): Promise<{ entries: FolderEntry[]; total: number; next: string | null }> {
  const commit = await findCommit(repository, revision ?? defaultBranchRef(project))
  if (!commit) throw notFound('Tree')
  const found = await listFolder(repository, { treeId: commit.treeId, folderPath: path, isRecursive, window })
  if (!found) throw notFound('invalid revision or path')
  const { entries: listed, start, total } = found
  if (start === null) throw invalidParameters(['page_token is invalid'])
  const isLast = start + listed.length >= total
  const of = (type: FolderEntry['type']) => listed.filter((entry) => entry.type === type)
  const entries = [...of('tree'), ...of('blob'), ...of('commit')]
  return { entries, total, next: isLast ? null : (listed.at(-1)?.path ?? null) }
}

/** Largest file for blame, because git compares the file with all its versions. */
const blamedBytesMax = 4 * 1024 * 1024
/** Most lines that blame returns. */
const blamedLinesMax = 200_000

interface LineRange {
  /** Counted from 1. */
  start: number
  end: number
}

/**
 * Returns the lines of a file with the commits that changed them last; adjacent lines of the same commit form
 * a group. A binary file has no lines.
 *
 * @param range undefined: every line
 * @throws DomainError invalid for a range that ends before it begins; too-large for more than 4 MiB, and for
 * more lines than the limit; unavailable when git takes longer than a minute; as {@link describeFile}
 */
export async function readBlame(
  access: ProjectCall,
  query: FileQuery,
  range: LineRange | undefined,
): Promise<{ file: FileView; groups: BlamedLinesView[] }> {
  if (range && range.start > range.end) {
    throw invalid('range[start] must be less than or equal to range[end]')
  }
  const { repository } = access
  const file = await describeFile(access, query)
  if (file.blob.size > blamedBytesMax) throw tooLarge('The file is too large for blame')
  const lines = lineCountOf(await readBlob(repository, file.blob)) ?? 0
  const { start, end } = range ?? { start: 1, end: lines }
  if (start > lines) return { file, groups: [] }
  if (Math.min(end, lines) - start >= blamedLinesMax) {
    throw tooLarge('The file has too many lines for blame')
  }
  const question = { commitId: file.commitId, path: file.path, lines: range }
  const blamed = await blameFile(repository, question)
  const commits = new Map<string, Commit>()
  for (const id of new Set(blamed.map(({ commitId }) => commitId))) {
    const commit = await findCommit(repository, id)
    if (commit) commits.set(id, commit)
  }
  const groups = blamed.flatMap(({ commitId, lines: texts }) => {
    const commit = commits.get(commitId)
    return commit ? [{ commit, lines: texts }] : []
  })
  return { file, groups }
}
