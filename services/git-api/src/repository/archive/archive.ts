import { createHash } from 'node:crypto'
import type { Writable } from 'node:stream'
import { notFound } from '@switchyard/domain'
import { defaultBranchRef, shortRefName } from '@switchyard/domain/commit'
import { findCommit } from '@switchyard/git-storage/commits'
import { type ArchiveFormat, hasEntry, writeArchive } from '@switchyard/git-storage/files'
import type { ProjectCall } from '../../guards.js'

interface ArchiveQuery {
  /** A branch, tag or hash; undefined: the default branch. */
  revision: string | undefined
  /** Empty: the whole repository. */
  path: string
  format: ArchiveFormat
  /** The name that the client asked for; a short one omits the hash. */
  stem?: string | undefined
}

export interface Archive {
  /** Name of the file. Without the extension, it is also the name of the top folder. */
  fileName: string
  /** Equal for archives with equal bytes. */
  fingerprint: string
  /** Writes the archive in bounded memory; the caller ends the stream. */
  write(output: Writable): Promise<void>
}

/**
 * Opens an archive of a commit, or of one of its folders.
 *
 * @throws DomainError not-found for a revision that names no commit and for a path that the commit does not
 *   have; writing throws rate-limited when too many archives are made for the sender
 */
export async function openArchive(
  { project, repository }: ProjectCall,
  { revision, path: given, format, stem }: ArchiveQuery,
): Promise<Archive> {
  const commit = await findCommit(repository, revision ?? defaultBranchRef(project))
  if (!commit) throw notFound('File')
  const path = given.split('/').filter(Boolean).join('/')
  if (path !== '' && !(await hasEntry(repository, commit.treeId, path))) throw notFound('File')
  const name = shortRefName(revision ?? project.defaultBranch)
  const short = `${project.path}-${name}`.replaceAll('/', '-')
  const words = [short, ...(stem === short ? [] : [commit.id]), ...(path === '' ? [] : [path])]
  const folder = words.join('-').replaceAll('/', '-')
  const fileName = `${folder}.${format}`
  const request = { format, commitId: commit.id, treeId: commit.treeId, folder, path: path || undefined }
  return {
    fileName,
    fingerprint: createHash('sha256').update(`${commit.id} ${fileName} ${path}`).digest('hex'),
    write: (output) => writeArchive(repository, request, output),
  }
}
