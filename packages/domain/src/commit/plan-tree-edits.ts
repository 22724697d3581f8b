import { excerpt } from '../texts.js'
import { type ActionName, refuseAction, type TreeEdit } from './actions.js'
import {
  crossesFile,
  entryAt,
  fileModes,
  putFile,
  removeFile,
  type TreeFile,
  type TreeFolder,
} from './tree.js'

export interface EditContext {
  /**
   * Id of the commit that last changed a file, by the path as sent. Needed for edits with a `lastCommitId`.
   */
  lastCommitIds?: ReadonlyMap<string, string>
}

/**
 * Returns the folders of the files that {@link planTreeEdits} changes. Their entries, and those of all
 * folders above, must be loaded.
 */
export function foldersOf(edits: readonly Pick<TreeEdit, 'path' | 'previousPath'>[]): string[][] {
  const folders = edits.flatMap(({ path, previousPath }) => [path.slice(0, -1), previousPath.slice(0, -1)])
  return [...new Map(folders.map((folder) => [folder.join('/'), folder])).values()]
}

/**
 * Applies edits to a tree in memory, one after the other.
 *
 * @param root changed in place; the entries of {@link foldersOf} must be loaded
 * @throws DomainError invalid, with `action_index` and `file_path` of an edit that does not fit the tree
 */
export function planTreeEdits(root: TreeFolder, edits: readonly TreeEdit[], context: EditContext = {}): void {
  for (const [index, edit] of edits.entries()) {
    const refuse = (detail: string) => refuseAction(index, edit.filePath, detail)
    refuseStale(edit, context, refuse)
    applyEdit[edit.action](root, edit, refuse)
  }
}

type Refuse = (detail: string) => Error

function refuseStale(edit: TreeEdit, { lastCommitIds }: EditContext, refuse: Refuse): void {
  if (edit.lastCommitId === null || edit.action === 'create') return
  const last = lastCommitIds?.get(edit.previousFilePath)
  if (last === edit.lastCommitId) return
  throw refuse(`The file has changed since you started editing it: ${excerpt(edit.previousFilePath)}`)
}

type Apply = (root: TreeFolder, edit: TreeEdit, refuse: Refuse) => void

const applyEdit: Record<ActionName, Apply> = {
  create: (root, edit, refuse) => create(root, edit.path, newFile(edit), refuse),
  upsert: (root, edit, refuse) =>
    applyEdit[entryAt(root, edit.path)?.kind === 'file' ? 'update' : 'create'](root, edit, refuse),
  update,
  delete: (root, edit, refuse) => {
    getFile(root, edit.path, refuse)
    removeFile(root, edit.path)
  },
  move,
  chmod: (root, edit, refuse) =>
    putFile(root, edit.path, withMode(getFile(root, edit.path, refuse), edit, refuse)),
  submodule: moveSubmodule,
}

const newFile = ({ content, executable }: TreeEdit): TreeFile => ({
  kind: 'file',
  mode: executable ? fileModes.executable : fileModes.regular,
  blob: content ?? new Uint8Array(),
})

function create(root: TreeFolder, path: string[], file: TreeFile, refuse: Refuse): void {
  const standing = entryAt(root, path)
  if (standing?.kind === 'folder') throw refuse('A directory with this name already exists')
  if (standing || crossesFile(root, path)) throw refuse('A file with this name already exists')
  putFile(root, path, file)
}

function update(root: TreeFolder, edit: TreeEdit, refuse: Refuse): void {
  putFile(root, edit.path, edited(getFile(root, edit.path, refuse), edit, refuse))
}

function move(root: TreeFolder, edit: TreeEdit, refuse: Refuse): void {
  const file = edited(getFile(root, edit.previousPath, refuse), edit, refuse)
  if (file.mode === fileModes.symlink && readsAsSettings(edit.path)) {
    throw refuse(`invalid path: '${excerpt(edit.filePath)}'`)
  }
  removeFile(root, edit.previousPath)
  create(root, edit.path, file, refuse)
}

function moveSubmodule(root: TreeFolder, { path, commitId }: TreeEdit, refuse: Refuse): void {
  const entry = entryAt(root, path)
  if (entry?.kind !== 'file' || entry.mode !== fileModes.submodule || commitId === null) {
    throw refuse('Invalid submodule path')
  }
  if (entry.blob === commitId) throw refuse(`The submodule is already at ${commitId}`)
  putFile(root, path, { ...entry, blob: commitId })
}

/** Returns the file with the content (which may be empty) and the mode of the edit. */
function edited(file: TreeFile, edit: TreeEdit, refuse: Refuse): TreeFile {
  const { content } = edit
  if (content && file.mode === fileModes.submodule) throw refuse('A submodule has no content to change')
  return { ...withMode(file, edit, refuse), ...(content && { blob: content }) }
}

function withMode(file: TreeFile, { executable }: TreeEdit, refuse: Refuse): TreeFile {
  if (executable === null) return file
  if (file.mode !== fileModes.regular && file.mode !== fileModes.executable) {
    throw refuse('Only a regular file can be made executable or not')
  }
  return { ...file, mode: executable ? fileModes.executable : fileModes.regular }
}

function getFile(root: TreeFolder, path: string[], refuse: Refuse): TreeFile {
  const entry = entryAt(root, path)
  if (entry?.kind !== 'file') throw refuse("A file with this name doesn't exist")
  return entry
}

/** git refuses symbolic links with the names of its settings files. */
const readsAsSettings = (path: string[]) => /^\.(git|mailmap)/i.test(path.at(-1) ?? '')
