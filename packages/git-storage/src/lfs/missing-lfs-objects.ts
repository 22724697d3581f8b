import { DomainError } from '@switchyard/domain'
import { linesOf, runGitOk } from '../processes/git-process.js'
import { findLfsObject } from './lfs-objects.js'
import { pointerFilter, readLfsPointers } from './lfs-pointers.js'

/** Most new small files of a push that are checked, the newest first. */
const filesMax = 100_000
/** A line of the list: an id and a line break. */
const lineBytes = 41
/** Time for listing the new files of a push. */
const listingMsMax = 20_000

/**
 * Returns whether the new files of a push have pointers of Git LFS whose objects are not stored. Files that
 * cannot be checked within the limits are accepted, because the push of a large history must not fail.
 *
 * @param tips ids of the commits and tags that references are about to point to
 */
export async function lacksLfsObjects(path: string, tips: readonly string[]): Promise<boolean> {
  if (tips.length === 0) return false
  try {
    const { stdout } = await runGitOk(
      path,
      {
        command: 'rev-list',
        // The commits of the standard input come before `--not`.
        flags: ['--objects', '--no-object-names', ...pointerFilter, '--stdin', '--not', '--all'],
      },
      {
        stdin: [...new Set(tips)].join('\n'),
        stdoutBytesMax: filesMax * lineBytes,
        timeoutMs: listingMsMax,
      },
    )
    return await hasPointerWithoutObject(path, linesOf(stdout).slice(0, filesMax))
  } catch (error) {
    if (error instanceof DomainError) return false
    throw error
  }
}

async function hasPointerWithoutObject(path: string, ids: readonly string[]): Promise<boolean> {
  for await (const pointers of readLfsPointers(path, ids)) {
    for (const { oid, size } of pointers) {
      if ((await findLfsObject({ path }, oid)) !== size) return true
    }
  }
  return false
}
