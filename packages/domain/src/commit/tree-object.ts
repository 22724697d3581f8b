import type { TreeEntry } from './tree.js'

const idBytes = 20

/** An entry of a stored tree. The name has one character for each byte. */
export interface StoredEntry {
  mode: string
  name: string
  id: string
}

/**
 * Parses the content of a tree object.
 *
 * @throws Error when the content is malformed
 */
export function parseTreeObject(content: Uint8Array): StoredEntry[] {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
  const entries: StoredEntry[] = []
  let at = 0
  while (at < bytes.length) {
    const blank = bytes.indexOf(0x20, at)
    const nul = bytes.indexOf(0, blank)
    const end = nul + 1 + idBytes
    if (blank < 0 || nul < 0 || end > bytes.length) throw new Error('malformed tree')
    entries.push({
      mode: bytes.toString('latin1', at, blank),
      name: bytes.toString('latin1', blank + 1, nul),
      id: bytes.toString('hex', nul + 1, end),
    })
    at = end
  }
  return entries
}

/** Returns the content of a tree object. As in git, folders are sorted as if their names ended in `/`. */
export function formatTreeObject(entries: StoredEntry[]): Buffer {
  const sortKey = ({ mode, name }: StoredEntry) => (mode === folderMode ? `${name}/` : name)
  const sorted = entries
    .map((entry) => ({ entry, key: sortKey(entry) }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  return Buffer.concat(
    sorted.flatMap(({ entry: { mode, name, id } }) => [
      Buffer.from(`${mode} ${name}\0`, 'latin1'),
      Buffer.from(id, 'hex'),
    ]),
  )
}

export const folderMode = '40000'

/** Converts a stored entry into an entry of an in-memory tree. The entries of a folder are not loaded. */
export function treeEntry({ mode, id }: StoredEntry): TreeEntry {
  if (mode === folderMode || mode === '040000') return { kind: 'folder', id, entries: null }
  // Old tools wrote files writable by their group; git reads them as regular files.
  return { kind: 'file', mode: mode === '100664' ? '100644' : mode, blob: id }
}
