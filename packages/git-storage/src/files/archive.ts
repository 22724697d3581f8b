import type { Writable } from 'node:stream'
import { DomainError, unavailable } from '@switchyard/domain'
import { neutralRepository, objectsOf } from '../neutral-repository.js'
import { pathArgument } from '../processes/path-arguments.js'
import { streamOutput } from '../processes/stream-output.js'
import type { Repository } from '../repository.js'

export type ArchiveFormat = 'zip' | 'tar' | 'tar.gz' | 'tar.bz2'

export interface ArchiveRequest {
  format: ArchiveFormat
  commitId: string
  treeId: string
  /** Name of the folder that contains all files. */
  folder: string
  /** Path of the only file or folder to include, which must exist; undefined: everything. */
  path?: string | undefined
}

/**
 * Writes an archive of a commit, in bounded memory. Two archives of the same request have the same bytes.
 * Attributes of the commit apply, such as `export-ignore`. The caller ends the stream.
 *
 * @throws DomainError invalid for a path that is not UTF-8, unprocessable when git crashes, unavailable
 * without bzip2 for its format; Error when git fails, also after a part of the archive was written; the
 * reason of the signal when it is aborted
 */
export async function writeArchive(
  repository: Repository,
  { format, commitId, treeId, folder, path: filePath }: ArchiveRequest,
  output: Writable,
): Promise<void> {
  const command = {
    command: 'archive',
    flags: [`--format=${format}`, `--prefix=${folder}/`, commitId],
    paths: filePath === undefined ? [] : [pathArgument(filePath)],
  }
  try {
    await streamOutput(repository, command, output, {
      runsIn: neutralRepository,
      variables: objectsOf(repository.path),
      settings: { 'attr.tree': treeId, 'tar.tar.bz2.command': 'bzip2 -c' },
    })
  } catch (error) {
    // git starts bzip2, which may be missing on this machine.
    const isDomainError = error instanceof DomainError
    if (format !== 'tar.bz2' || repository.signal?.aborted || isDomainError) throw error
    throw unavailable('bzip2 cannot be run', { cause: error })
  }
}
