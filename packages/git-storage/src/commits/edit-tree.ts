import { invalid } from '@switchyard/domain'
import {
  emptyFolder,
  folderMode,
  formatTreeObject,
  parseTreeObject,
  type StoredEntry,
  type TreeEntry,
  type TreeFolder,
  treeEntry,
} from '@switchyard/domain/commit'
import type { NewObjects } from '../objects/new-objects.js'
import { readObject, readObjects, type StoredObject } from '../objects/object-reader.js'
import { runGitOk } from '../processes/git-process.js'
import { textOfNames } from '../processes/path-arguments.js'
import type { Repository } from '../repository.js'

/**
 * Loads a stored tree with the entries of the given folders.
 *
 * @param treeId null: the empty tree
 * @param folders paths of folders; the folders above them are loaded, too, and missing folders are skipped
 * @throws DomainError invalid for a deep path that is not UTF-8
 */
export async function loadTree(
  repository: Repository,
  treeId: string | null,
  folders: readonly string[][],
): Promise<TreeFolder> {
  if (treeId === null) return emptyFolder()
  const root: TreeFolder = { kind: 'folder', id: treeId, entries: null }
  await loadEntries(repository, root)
  for (const path of folders) await loadAlong(repository, root, path)
  return root
}

async function loadAlong(repository: Repository, root: TreeFolder, path: readonly string[]): Promise<void> {
  let folder = root
  for (const [depth, name] of path.entries()) {
    const next = folder.entries?.get(name)
    if (next?.kind !== 'folder') return
    if (next.entries === null) await loadChain(repository, next, path.slice(depth + 1))
    folder = next
  }
}

/**
 * Number of names from which a path is deep. The folders of a shorter path are read one after the other;
 * those of a deep path are read with one question to git.
 */
const deepNames = 16
const readAtOnce = 32

/** Loads a folder and, for a deep path, the folders below it. */
async function loadChain(
  repository: Repository,
  folder: TreeFolder,
  names: readonly string[],
): Promise<void> {
  if (names.length < deepNames) return loadEntries(repository, folder)
  const ids = [folder.id ?? '', ...(await treesAlong(repository, folder.id ?? '', names))]
  let at: TreeEntry | undefined = folder
  for (let first = 0; first < ids.length; first += readAtOnce) {
    const objects = await readObjects(repository, ids.slice(first, first + readAtOnce))
    for (const [index, object] of objects.entries()) {
      if (at?.kind !== 'folder' || object.id !== at.id)
        throw new Error(`tree ${object.id} is not where it was`)
      at.entries = entriesOf(object)
      at = at.entries.get(names[first + index] ?? '')
    }
  }
}

/** Returns the ids of the trees at each name of a path, as far as it exists. */
async function treesAlong(
  repository: Repository,
  treeId: string,
  names: readonly string[],
): Promise<string[]> {
  const text = textOfNames(names)
  if (text === null) {
    refuseDeep(names)
    return []
  }
  const flags = ['-d', '-t', '-z', '--format=%(objectname)']
  const command = { command: 'ls-tree', flags, revisions: [treeId], paths: [text] }
  const { stdout } = await runGitOk(repository, command)
  return stdout.toString('latin1').split('\0').filter(Boolean)
}

const askedNamesMax = 100

/**
 * Refuses a path whose folders would need one question to git each.
 *
 * @throws DomainError invalid
 */
export function refuseDeep(names: readonly string[]): void {
  if (names.length > askedNamesMax)
    throw invalid('git cannot be asked about a deep path that is not UTF-8 or has a line break')
}

async function loadEntries(repository: Repository, folder: TreeFolder): Promise<void> {
  const object = await readObject(repository, folder.id ?? '')
  if (object?.type !== 'tree') throw new Error(`tree ${folder.id} is missing`)
  folder.entries = entriesOf(object)
}

const entriesOf = ({ content }: StoredObject) =>
  new Map(parseTreeObject(content).map((entry) => [entry.name, treeEntry(entry)]))

/**
 * Adds the new files and changed folders of a tree to `objects`, children first.
 *
 * @returns the id of the root tree
 */
export async function addTree(objects: NewObjects, folder: TreeFolder): Promise<string> {
  if (folder.id !== null) return folder.id
  const entries: StoredEntry[] = []
  for (const [name, entry] of folder.entries ?? []) {
    if (entry.kind === 'folder') {
      entries.push({ mode: folderMode, name, id: await addTree(objects, entry) })
      continue
    }
    if (typeof entry.blob !== 'string') entry.blob = await objects.add('blob', entry.blob)
    entries.push({ mode: entry.mode, name, id: entry.blob })
  }
  folder.id = await objects.add('tree', formatTreeObject(entries))
  return folder.id
}
