import { tooLarge } from '@switchyard/domain'
import { entryAt, folderMode, nameOf, parseTreeObject, storedPath } from '@switchyard/domain/commit'
import { loadTree } from './edit-tree.js'
import { runGitOk } from './git-process.js'
import { objectReader } from './object-reader.js'
import type { OpenRepository } from './open-repository.js'

/** One entry of a folder. */
export interface FolderEntry {
  id: string
  type: 'tree' | 'blob' | 'commit'
  /** From the root; a path that is not UTF-8 is quoted. */
  path: string
  /** Six digits. */
  mode: string
}

/** A file as a commit has it. */
export interface FileEntry {
  blobId: string
  isExecutable: boolean
}

const submoduleMode = '160000'

/**
 * The entries of a folder, or of everything below it, in git's order.
 *
 * @param folderPath empty: the root
 * @returns null when the tree has no such folder
 * @throws DomainError too-large when the names take more than 64 MB
 */
export async function listFolder(
  repository: OpenRepository,
  { treeId, folderPath, isRecursive }: { treeId: string; folderPath: string; isRecursive: boolean },
): Promise<FolderEntry[] | null> {
  const names = partsOf(folderPath)
  const folderId = await findFolder(repository, treeId, names)
  if (folderId === null) return null
  const prefix = names.map((name) => `${name}/`).join('')
  return isRecursive
    ? listBelow(repository, folderId, prefix)
    : parseTreeObject((await readTree(repository, folderId)).content).map(({ mode, name, id }) =>
        entryOf(mode, id, prefix + name),
      )
}

/** The file at a path of a tree; null when there is none. A symbolic link is a file, a submodule is none. */
export async function findFile(
  repository: OpenRepository,
  treeId: string,
  filePath: string,
): Promise<FileEntry | null> {
  const names = partsOf(filePath)
  const entry = entryAt(await loadTree(objectReader(repository), treeId, foldersAbove(names)), names)
  if (entry?.kind !== 'file' || entry.mode === submoduleMode) return null
  return { blobId: String(entry.blob), isExecutable: entry.mode === '100755' }
}

const partsOf = (path: string) => storedPath(path).split('/').filter(Boolean)

const foldersAbove = (names: readonly string[]) =>
  names.slice(0, -1).map((_, depth) => names.slice(0, depth + 1))

async function findFolder(
  repository: OpenRepository,
  treeId: string,
  names: readonly string[],
): Promise<string | null> {
  if (names.length === 0) return treeId
  const path = [...names]
  const entry = entryAt(await loadTree(objectReader(repository), treeId, foldersAbove(path)), path)
  return entry?.kind === 'folder' ? entry.id : null
}

async function readTree(repository: OpenRepository, id: string) {
  const object = await objectReader(repository).read(id)
  if (object?.type !== 'tree') throw new Error(`tree ${id} is missing`)
  return object
}

async function listBelow(
  { path, signal }: OpenRepository,
  treeId: string,
  prefix: string,
): Promise<FolderEntry[]> {
  const command = { command: 'ls-tree', flags: ['-r', '-t', '-z'], revisions: [treeId] }
  const { stdout, truncated } = await runGitOk(path, command, { signal })
  if (truncated) throw tooLarge('The folder has too many entries to list')
  return stdout
    .toString('latin1')
    .split('\0')
    .filter(Boolean)
    .map((line) => {
      const tab = line.indexOf('\t')
      const [mode = '', , id = ''] = line.slice(0, tab).split(' ')
      return entryOf(mode, id, prefix + line.slice(tab + 1))
    })
}

function entryOf(mode: string, id: string, stored: string): FolderEntry {
  const isFolder = mode === folderMode || mode === `0${folderMode}`
  return {
    id,
    type: isFolder ? 'tree' : mode === submoduleMode ? 'commit' : 'blob',
    path: nameOf(Buffer.from(stored, 'latin1')),
    mode: mode.padStart(6, '0'),
  }
}
