import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { tooLarge } from '@switchyard/domain'
import {
  entryAt,
  fileModes,
  folderMode,
  nameOf,
  parseTreeObject,
  type StoredEntry,
  storedPath,
  type TreeEntry,
  treeEntry,
} from '@switchyard/domain/commit'
import { loadTree, refuseDeep } from '../commits/edit-tree.js'
import { readObject } from '../objects/object-reader.js'
import { runGitOk } from '../processes/git-process.js'
import { textOfNames } from '../processes/path-arguments.js'
import { getOrCompute, type Repository } from '../repository.js'

/** One entry of a folder. */
export interface FolderEntry {
  id: string
  type: 'tree' | 'blob' | 'commit'
  /** Path from the root; a path that is not UTF-8 is quoted. */
  path: string
  /** Mode, six digits. */
  mode: string
}

/** A file in a commit. */
export interface FileEntry {
  blobId: string
  /** Mode, six digits. */
  mode: string
  isExecutable: boolean
}

const submoduleMode = '160000'

export interface FolderQuery {
  treeId: string
  /** Path of the folder. Empty: the root. */
  folderPath: string
  /** Whether everything below the folder is listed, too. */
  isRecursive: boolean
  /** `take` entries, after the first `skip` ones or after the entry with the path `after`. Undefined: all. */
  window: ({ take: number } & ({ skip: number } | { after: string | undefined })) | undefined
}

interface FolderPage {
  entries: FolderEntry[]
  /** Number of the entries before the first one; null: no entry has the path after which the page begins. */
  start: number | null
  /** Number of all entries of the folder. */
  total: number
}

/** The entries of a folder, of which each is parsed when it is read. */
interface EntryList {
  length: number
  at: (index: number) => StoredEntry | undefined
}

/** Longest list of everything below a folder. */
const recursiveBytesMax = 16 * 1024 * 1024
/** Most entries that are parsed at once, which takes some milliseconds. */
const sliceEntriesMax = 2_000

/**
 * Lists one page of the entries of a folder in git's order. Yields to the event loop during a long list.
 *
 * @returns null when the tree has no such folder
 * @throws DomainError too-large when the names below a folder take more than 16 MB
 */
export async function listFolder(
  repository: Repository,
  { treeId, folderPath, isRecursive, window }: FolderQuery,
): Promise<FolderPage | null> {
  const names = partsOf(folderPath)
  const folder =
    names.length === 0 ? { kind: 'folder', id: treeId } : await findEntry(repository, treeId, names)
  if (folder?.kind !== 'folder' || folder.id === null) return null
  const all: EntryList = await (isRecursive ? readBelow : readTree)(repository, folder.id)
  const prefix = names.map((name) => `${name}/`).join('')
  const { length: total } = all
  const start = await findStart(all, prefix, window)
  if (start === null) return { entries: [], start, total }
  const end = window ? Math.min(start + window.take, total) : total
  const entries: FolderEntry[] = []
  for (let index = start; index < end; index += 1) {
    const entry = all.at(index)
    if (entry) entries.push(presentEntry(entry, prefix))
    if (entries.length % sliceEntriesMax === 0) await yieldToEventLoop()
  }
  return { entries, start, total }
}

async function findStart(
  all: EntryList,
  prefix: string,
  window: FolderQuery['window'],
): Promise<number | null> {
  if (window === undefined) return 0
  if ('skip' in window) return window.skip
  if (window.after === undefined) return 0
  const stored = storedPath(window.after)
  for (let index = 0; index < all.length; index += 1) {
    const entry = all.at(index)
    if (entry && prefix + entry.name === stored && presentEntry(entry, prefix).path === window.after) {
      return index + 1
    }
    if (index % sliceEntriesMax === sliceEntriesMax - 1) await yieldToEventLoop()
  }
  return null
}

/**
 * Finds the file at a path of a tree; null when there is none. A symbolic link is a file; a submodule is not.
 */
export async function findFile(
  repository: Repository,
  treeId: string,
  filePath: string,
): Promise<FileEntry | null> {
  const read = async () => ({ file: fileOf(await findEntry(repository, treeId, partsOf(filePath))) })
  const bytesOf = ({ file }: { file: FileEntry | null }) => (file ? fileBytes : Number.POSITIVE_INFINITY)
  return (await getOrCompute(repository, `file ${treeId} ${filePath}`, read, bytesOf)).file
}

/** Approximate memory of a file entry. */
const fileBytes = 200

function fileOf(entry: TreeEntry | null): FileEntry | null {
  if (entry?.kind !== 'file' || entry.mode === submoduleMode) return null
  const { blob, mode } = entry
  return { blobId: String(blob), mode, isExecutable: mode === fileModes.executable }
}

const partsOf = (path: string) => namesOf(path).filter(Boolean)

/** Longest path that is looked up. It is limited because a request body can contain a path of any length. */
const pathLengthMax = 65_536

/**
 * Returns the names in a path as trees store them. A path that is too long becomes a name that no tree has.
 */
export const namesOf = (path: string): string[] =>
  path.length > pathLengthMax ? [path] : storedPath(path).split('/')

/** Returns whether a tree has an entry at a path: a file, a folder or a submodule. */
export const hasEntry = async (repository: Repository, treeId: string, path: string): Promise<boolean> =>
  (await findEntry(repository, treeId, partsOf(path))) !== null

/**
 * Finds the entry at a path of a tree. git finds the folder above it in one question, however deep it is.
 *
 * @throws DomainError invalid for a deep path that git cannot be asked about
 */
export async function findEntry(
  repository: Repository,
  treeId: string,
  names: readonly string[],
): Promise<TreeEntry | null> {
  const folders = names.slice(0, -1)
  // Before a path with these names, git expects a work tree. No tree has such an entry.
  if (names.some((name) => name === '.' || name === '..')) return null
  const path = textOfNames(folders)
  if (path === null || path.includes('\n')) {
    refuseDeep(folders)
    return entryAt(await loadTree(repository, treeId, [folders]), names)
  }
  // The slash at the end keeps git from reading the end of a name as an abbreviation, such as `^0`.
  const folder = await readObject(repository, path === '' ? treeId : `${treeId}:${path}/`)
  if (folder?.type !== 'tree') return null
  const found = parseTreeObject(folder.content).find(({ name }) => name === names.at(-1))
  return found ? treeEntry(found) : null
}

async function readTree(repository: Repository, id: string): Promise<StoredEntry[]> {
  const object = await readObject(repository, id)
  if (object?.type !== 'tree') throw new Error(`tree ${id} is missing`)
  return parseTreeObject(object.content)
}

/** Returns the entries below a folder, each with its path as its name. */
async function readBelow(repository: Repository, treeId: string): Promise<EntryList> {
  const command = { command: 'ls-tree', flags: ['-r', '-t', '-z'], revisions: [treeId] }
  const options = { stdoutBytesMax: recursiveBytesMax }
  const { stdout, truncated } = await runGitOk(repository, command, options)
  if (truncated) throw tooLarge('The folder has too many entries to list')
  /** Where the entries end. */
  const ends: number[] = []
  for (let end = stdout.indexOf(0); end >= 0; end = stdout.indexOf(0, end + 1)) {
    ends.push(end)
    if (ends.length % sliceEntriesMax === 0) await yieldToEventLoop()
  }
  const at = (index: number) =>
    parseEntry(stdout.toString('latin1', index === 0 ? 0 : Number(ends[index - 1]) + 1, ends[index]))
  return { length: ends.length, at }
}

/** Parses `<mode> <type> <id> TAB <path>`. */
function parseEntry(line: string): StoredEntry {
  const tab = line.indexOf('\t')
  const [mode = '', , id = ''] = line.slice(0, tab).split(' ')
  return { mode, id, name: line.slice(tab + 1) }
}

function presentEntry({ mode, id, name }: StoredEntry, prefix: string): FolderEntry {
  const digits = mode.padStart(6, '0')
  return {
    id,
    type: digits === `0${folderMode}` ? 'tree' : digits === submoduleMode ? 'commit' : 'blob',
    path: nameOf(Buffer.from(prefix + name, 'latin1')),
    mode: digits,
  }
}
