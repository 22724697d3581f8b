import { entryAt, fileModes } from '@switchyard/domain/commit'
import { loadTree } from './edit-tree.js'
import { withObjectReader } from './object-reader.js'
import { readCommit } from './read-commits.js'

/**
 * The bytes of a file as a commit has it.
 *
 * @returns null when the commit has no such file; links and submodules are none
 */
export async function readFile(
  path: string,
  commitId: string,
  filePath: string,
  signal?: AbortSignal,
): Promise<Buffer | null> {
  // Trees hold names as bytes, one character each.
  const names = filePath.split('/').map((name) => Buffer.from(name).toString('latin1'))
  return withObjectReader(path, signal, async (reader) => {
    const commit = await readCommit(reader, commitId)
    if (!commit) return null
    const folders = names.slice(0, -1).map((_, depth) => names.slice(0, depth + 1))
    const entry = entryAt(await loadTree(reader, commit.treeId, folders), names)
    const isFile = entry?.kind === 'file' && fileModesWithLines.includes(entry.mode)
    return isFile ? ((await reader.read(String(entry.blob)))?.content ?? null) : null
  })
}

const fileModesWithLines: string[] = [fileModes.regular, fileModes.executable]
