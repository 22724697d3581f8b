import { DomainError, invalidParameters, notFound } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import { type CommitAction, parseFilePath } from '@switchyard/domain/commit'
import type { Repository } from '@switchyard/git-storage'
import type { Call } from '@switchyard/service-kit/http'
import type { Dependencies } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'
import type { FileView } from '../repository-views.js'
import { type CreateCommitCommand, createCommit } from './create-commit.js'

/** A file, and its repository to read the bytes from. */
export interface FoundFile {
  file: FileView
  repository: Repository
}

const sha256Bytes = 64
/** Larger files are read as raw content alone. */
const contentBytesMax = 32 * 1024 * 1024

/**
 * @param revision branch, tag or hash
 * @throws DomainError invalid-parameters for a path that leaves the repository; not-found for a revision that names no
 *   commit, and for a path that is no file
 */
export async function findFile(
  { repository }: ProjectCall,
  { path, revision }: { path: string; revision: string },
): Promise<FoundFile> {
  if (parseFilePath(path) === 'traversal') throw invalidParameters(['file_path should be a valid file path'])
  const commit = await repository.findCommit(revision)
  if (!commit) throw notFound('Commit')
  const entry = await repository.findFile(commit.treeId, path)
  const size = entry && (await repository.sizeOf(entry.blobId))
  if (!entry || size === null) throw notFound('File')
  const blob = { id: entry.blobId, size }
  const [{ sha256 }, { lastCommitId }] = await Promise.all([
    repository.getOrCompute(
      `sha256 ${blob.id}`,
      async () => ({ sha256: await repository.hashBlob(blob) }),
      () => sha256Bytes,
    ),
    repository.getOrCompute(
      `last commit ${commit.id} ${path}`,
      async () => ({ lastCommitId: (await repository.findLastCommitOf(commit.id, path)) ?? commit.id }),
      () => sha256Bytes,
    ),
  ])
  const { isExecutable } = entry
  return {
    repository,
    file: { path, revision, blob, sha256, commitId: commit.id, lastCommitId, isExecutable },
  }
}

/** The bytes of a file. @throws DomainError too-large for more than 32 MB */
export const readContent = ({ repository, file }: FoundFile): Promise<Buffer> =>
  repository.readBlob(file.blob, contentBytesMax)

/** A change of one file, which becomes a commit of its own. */
export interface FileChange
  extends Omit<CreateCommitCommand, 'actions' | 'startSha' | 'force' | 'allowEmpty' | 'withStats'> {
  action: CommitAction
}

/**
 * Commits a change of one file.
 *
 * @returns the id of the commit
 * @throws DomainError invalid-parameters for a path that leaves the repository; as {@link createCommit}
 */
export async function changeFile(
  dependencies: Dependencies,
  access: ProjectCall<Caller>,
  { action, ...command }: FileChange,
  call: Pick<Call, 'baseUrl'>,
): Promise<string> {
  if (parseFilePath(action.file_path) === 'traversal') {
    throw invalidParameters(['file_path should be a valid file path'])
  }
  try {
    const changes = { actions: [action], force: false, allowEmpty: false, withStats: false }
    const { commit } = await createCommit(dependencies, access, { ...command, ...changes }, call)
    return commit.id
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    // The request has one file; the number of an action means nothing to its caller.
    const { action_index, ...extra } = error.extra
    throw new DomainError(error.kind, error.detail, { extra, cause: error })
  }
}
