import {
  emptyFolder,
  entryAt,
  folderMode,
  formatTreeObject,
  parseTreeObject,
  type StoredEntry,
  type TreeFolder,
  treeEntry,
} from '@switchyard/domain/commit'
import type { ObjectReader } from './object-reader.js'
import type { ObjectWriter } from './write-object.js'

/**
 * A stored tree in memory, with these folders looked into.
 *
 * @param treeId null: an empty tree
 * @param folders paths of folders, parents before children; ones that do not exist are passed over
 */
export async function loadTree(
  reader: ObjectReader,
  treeId: string | null,
  folders: readonly string[][],
): Promise<TreeFolder> {
  if (treeId === null) return emptyFolder()
  const root: TreeFolder = { kind: 'folder', id: treeId, entries: null }
  await loadEntries(reader, root)
  for (const path of folders) {
    const folder = entryAt(root, path)
    if (folder?.kind === 'folder' && folder.entries === null) await loadEntries(reader, folder)
  }
  return root
}

async function loadEntries(reader: ObjectReader, folder: TreeFolder): Promise<void> {
  const object = await reader.read(folder.id ?? '')
  if (object?.type !== 'tree') throw new Error(`tree ${folder.id} is missing`)
  folder.entries = new Map(parseTreeObject(object.content).map((entry) => [entry.name, treeEntry(entry)]))
}

/** How many blobs are on their way to the disk at once. */
const parallelBlobs = 8

/** Writes what differs from stored trees, children first. @returns the id of the root tree */
export async function writeTree(writer: ObjectWriter, root: TreeFolder): Promise<string> {
  await writeBlobs(writer, root)
  return writeFolder(writer, root)
}

async function writeBlobs(writer: ObjectWriter, root: TreeFolder): Promise<void> {
  const files = newFiles(root)
  const next = files[Symbol.iterator]()
  const work = async () => {
    for (const file of { [Symbol.iterator]: () => next }) {
      if (typeof file.blob !== 'string') file.blob = await writer.write('blob', file.blob)
    }
  }
  await Promise.all(Array.from({ length: parallelBlobs }, work))
}

function newFiles(folder: TreeFolder): { blob: string | Uint8Array }[] {
  if (folder.id !== null) return []
  return [...(folder.entries?.values() ?? [])].flatMap((entry) => {
    if (entry.kind === 'folder') return newFiles(entry)
    return typeof entry.blob === 'string' ? [] : [entry]
  })
}

async function writeFolder(writer: ObjectWriter, folder: TreeFolder): Promise<string> {
  if (folder.id !== null) return folder.id
  const entries: StoredEntry[] = []
  for (const [name, entry] of folder.entries ?? []) {
    if (entry.kind === 'folder')
      entries.push({ mode: folderMode, name, id: await writeFolder(writer, entry) })
    else entries.push({ mode: entry.mode, name, id: String(entry.blob) })
  }
  folder.id = await writer.write('tree', formatTreeObject(entries))
  return folder.id
}
