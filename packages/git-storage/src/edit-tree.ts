import {
  emptyFolder,
  folderMode,
  formatTreeObject,
  parseTreeObject,
  type StoredEntry,
  type TreeFolder,
  treeEntry,
} from '@switchyard/domain/commit'
import { readObject } from './object-reader.js'
import type { OpenRepository } from './open-repository.js'
import type { NewObjects } from './writing/new-objects.js'

/**
 * Loads a stored tree with the entries of the folders above the given paths, as far as these folders exist.
 *
 * @param treeId null: the empty tree
 */
export async function loadTree(
  repository: OpenRepository,
  treeId: string | null,
  paths: readonly (readonly string[])[],
): Promise<TreeFolder> {
  if (treeId === null) return emptyFolder()
  const root: TreeFolder = { kind: 'folder', id: treeId, entries: null }
  await loadEntries(repository, root)
  for (const path of paths) await loadAbove(repository, root, path)
  return root
}

async function loadAbove(
  repository: OpenRepository,
  root: TreeFolder,
  path: readonly string[],
): Promise<void> {
  let folder = root
  for (const name of path.slice(0, -1)) {
    const next = folder.entries?.get(name)
    if (next?.kind !== 'folder') return
    if (next.entries === null) await loadEntries(repository, next)
    folder = next
  }
}

async function loadEntries(repository: OpenRepository, folder: TreeFolder): Promise<void> {
  const object = await readObject(repository, folder.id ?? '')
  if (object?.type !== 'tree') throw new Error(`tree ${folder.id} is missing`)
  folder.entries = new Map(parseTreeObject(object.content).map((entry) => [entry.name, treeEntry(entry)]))
}

/** Adds the new files and changed folders of a tree to `objects`, children first. @returns the id of the root tree */
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
