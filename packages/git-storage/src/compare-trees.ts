import { folderMode, parseTreeObject, type StoredEntry } from '@switchyard/domain/commit'
import { readObject } from './object-reader.js'
import type { OpenRepository } from './open-repository.js'

/** A file that differs between two trees; null on the side where the file is missing. Links and submodules are files. */
export interface TreeChange {
  /** Names as trees store them. */
  path: string[]
  before: { mode: string; id: string } | null
  after: { mode: string; id: string } | null
}

/** Folders may be empty, so the limit of changes does not bound their number. */
const foldersMax = 10_000

/**
 * Every file that differs between two stored trees, without looking for renames.
 *
 * @param before id of a tree; null: the empty tree
 * @param after id of a tree; null: the empty tree
 * @returns null when the trees differ in more than `changesMax` files or in too many folders
 */
export async function compareTrees(
  repository: OpenRepository,
  before: string | null,
  after: string | null,
  changesMax: number,
): Promise<TreeChange[] | null> {
  const changes: TreeChange[] = []
  const folders: FolderPair[] = [{ path: [], before, after }]
  let foldersRead = 0
  for (let folder = folders.pop(); folder; folder = folders.pop()) {
    foldersRead += 1
    if (foldersRead > foldersMax) return null
    for (const { path, was, is } of await differingEntries(repository, folder)) {
      const change = { path, before: fileOf(was), after: fileOf(is) }
      if (change.before || change.after) changes.push(change)
      if (changes.length > changesMax) return null
      const below = { path, before: folderOf(was), after: folderOf(is) }
      if (below.before !== below.after) folders.push(below)
    }
  }
  return changes
}

interface FolderPair {
  path: string[]
  before: string | null
  after: string | null
}

async function differingEntries(repository: OpenRepository, { path, before, after }: FolderPair) {
  const [old, now] = [await readEntries(repository, before), await readEntries(repository, after)]
  return [...new Set([...old.keys(), ...now.keys()])]
    .map((name) => ({ path: [...path, name], was: old.get(name), is: now.get(name) }))
    .filter(({ was, is }) => was?.id !== is?.id || was?.mode !== is?.mode)
}

async function readEntries(
  repository: OpenRepository,
  treeId: string | null,
): Promise<Map<string, StoredEntry>> {
  if (treeId === null) return new Map()
  const object = await readObject(repository, treeId)
  if (object?.type !== 'tree') throw new Error(`tree ${treeId} is missing`)
  return new Map(parseTreeObject(object.content).map((entry) => [entry.name, entry]))
}

const isFolder = ({ mode }: StoredEntry) => mode === folderMode || mode === `0${folderMode}`
const folderOf = (entry: StoredEntry | undefined) => (entry && isFolder(entry) ? entry.id : null)
const fileOf = (entry: StoredEntry | undefined) =>
  entry && !isFolder(entry) ? { mode: entry.mode, id: entry.id } : null
