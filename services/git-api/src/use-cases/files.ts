import { isUtf8 } from 'node:buffer'
import type { Writable } from 'node:stream'
import { DomainError, invalidParameters, notFound, tooLarge } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import {
  type CommitAction,
  lfsPointerBytesMax,
  parseFilePath,
  parseLfsPointer,
  plainPath,
} from '@switchyard/domain/commit'
import type { ByteRange, StoredBlob } from '@switchyard/git-storage'
import type { Call } from '@switchyard/service-kit/http'
import type { Dependencies } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'
import type { FileView } from '../repository-views.js'
import { type CreateCommitCommand, createCommit } from './create-commit.js'
import { openLfsObject } from './lfs-objects.js'

export interface FileQuery {
  path: string
  /** Branch, tag or hash. */
  revision: string
}

/** Memory of a cached id or hash, roughly. */
const idBytes = 64
/** Only the endpoints for raw content send larger files. */
export const contentBytesMax = 32 * 1024 * 1024
/** Number of first bytes that decide whether a file is text. */
const sniffedBytes = 8000

/**
 * Facts about a file.
 *
 * @throws DomainError invalid-parameters for a path that leaves the repository; not-found for a revision that names no
 *   commit, and for a path that is not a file; rate-limited when too many large files are read for the sender
 */
export async function describeFile(access: ProjectCall, query: FileQuery): Promise<FileView> {
  return describe(access, await locate(access, query))
}

/** Facts about a file, and its bytes. @throws DomainError like {@link describeFile}; too-large for more than 32 MB */
export async function readFile(
  access: ProjectCall,
  query: FileQuery,
): Promise<{ file: FileView; content: Buffer }> {
  const located = await locate(access, query)
  if (located.blob.size > contentBytesMax) {
    throw tooLarge('The file is too large for this answer; ask for its raw content')
  }
  const file = await describe(access, located)
  return { file, content: await access.repository.readBlob(located.blob) }
}

/** Bytes that are sent as they are. */
export interface RawContent {
  /** A blob, or an object of Git LFS. */
  blob: StoredBlob
  isText: boolean
  /** Writes a part of the bytes in bounded memory; the stream is left for the caller to end. */
  write(output: Writable, range: ByteRange): Promise<void>
}

/**
 * A file whose bytes are sent as they are.
 *
 * @param query with `lfs`, a pointer of Git LFS stands for its object
 * @throws DomainError like {@link describeFile}; not-found for a pointer whose object is not stored
 */
export async function openRawFile(
  deps: Dependencies,
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

/** The bytes of a blob. @throws DomainError rate-limited when too many large files are read for the sender */
export async function openContent({ repository }: ProjectCall, blob: StoredBlob): Promise<RawContent> {
  return {
    blob,
    isText: isText(await repository.readStart(blob, sniffedBytes)),
    write: (output, range) => repository.writeBlob(blob, output, range),
  }
}

const readPointer = async ({ repository }: ProjectCall, blob: StoredBlob) =>
  parseLfsPointer((await repository.readBlob(blob)).toString())

/** @param start first bytes of a file, which may end within a character */
const isText = (start: Buffer): boolean =>
  !start.includes(0) && [0, 1, 2, 3].some((cut) => isUtf8(start.subarray(0, start.length - cut)))

type LocatedFile = Omit<FileView, 'sha256' | 'lastCommitId'>

async function locate(
  { repository }: ProjectCall,
  { path: given, revision }: FileQuery,
): Promise<LocatedFile> {
  requireInside(given)
  const path = plainPath(given)
  const commit = await repository.findCommit(revision)
  if (!commit) throw notFound('Commit')
  const entry = await repository.findFile(commit.treeId, path)
  const blob = entry && (await repository.findBlob(entry.blobId))
  if (!blob) throw notFound('File')
  return { path, revision, blob, commitId: commit.id, isExecutable: entry.isExecutable }
}

function requireInside(path: string): void {
  if (parseFilePath(path) === 'traversal') throw invalidParameters(['file_path should be a valid file path'])
}

async function describe({ repository }: ProjectCall, located: LocatedFile): Promise<FileView> {
  const { blob, commitId, path } = located
  const [{ sha256 }, { lastCommitId }] = await Promise.all([
    repository.getOrCompute(
      `sha256 ${blob.id}`,
      async () => ({ sha256: await repository.hashBlob(blob) }),
      () => idBytes,
    ),
    repository.getOrCompute(
      `last commit ${commitId} ${path}`,
      async () => ({ lastCommitId: (await repository.findLastCommitOf(commitId, path)) ?? commitId }),
      () => idBytes,
    ),
  ])
  return { ...located, sha256, lastCommitId }
}

/** A change of one file, stored as one commit. */
export interface FileChange
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
  deps: Dependencies,
  access: ProjectCall<Caller>,
  change: FileChange,
  call: Call,
): Promise<FileView> {
  const revision = await commitChange(deps, access, change, call)
  return describeFile(access, { path: change.action.file_path, revision })
}

/** Commits the deletion of a file. @throws DomainError as {@link writeFile} */
export async function deleteFile(
  deps: Dependencies,
  access: ProjectCall<Caller>,
  change: FileChange,
  call: Call,
): Promise<void> {
  await commitChange(deps, access, change, call)
}

/** @returns the id of the commit */
async function commitChange(
  deps: Dependencies,
  access: ProjectCall<Caller>,
  { action, ...command }: FileChange,
  call: Call,
): Promise<string> {
  requireInside(action.file_path)
  try {
    const changes = { actions: [action], force: false, allowEmpty: false, withStats: false }
    const { commit } = await createCommit(deps, access, { ...command, ...changes }, call)
    return commit.id
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    // The request has one file and no list of actions, so the index of an action means nothing to its caller.
    const { action_index, ...extra } = error.extra
    throw new DomainError(error.kind, error.detail, { extra, cause: error })
  }
}
