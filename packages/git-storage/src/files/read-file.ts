import { fileModes } from '@switchyard/domain/commit'
import { findCommit } from '../commits/read-commits.js'
import { findObject, readObject } from '../objects/object-reader.js'
import type { Repository } from '../repository.js'
import { findEntry, namesOf } from './trees.js'

/** Largest file that is read. The limit suffices, because callers count lines of text. */
const fileBytesMax = 32 * 1024 * 1024

/**
 * Reads the content of a file in a commit.
 *
 * @returns null when the commit has no such file, when it is larger than 32 MB, and for links and submodules
 */
export async function readFile(
  repository: Repository,
  commitId: string,
  filePath: string,
): Promise<Buffer | null> {
  const names = namesOf(filePath)
  const commit = await findCommit(repository, commitId)
  if (!commit) return null
  const entry = await findEntry(repository, commit.treeId, names)
  if (entry?.kind !== 'file' || !fileModesWithLines.includes(entry.mode)) return null
  const id = String(entry.blob)
  const found = await findObject(repository, id)
  if (!found || found.size > fileBytesMax) return null
  return (await readObject(repository, id))?.content ?? null
}

const fileModesWithLines: string[] = [fileModes.regular, fileModes.executable]
