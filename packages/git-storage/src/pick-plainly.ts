import {
  crossesFile,
  entryAt,
  fileModes,
  foldersOf,
  putFile,
  removeFile,
  type TreeFolder,
} from '@switchyard/domain/commit'
import { compareTrees, type TreeChange } from './compare-trees.js'
import { loadTree } from './edit-tree.js'
import type { OpenRepository } from './open-repository.js'

export interface PickedTrees {
  /** Tree before the change; null: the empty tree. */
  base: string | null
  /** Tree after the change; null: the empty tree. */
  picked: string | null
  /** Tree of the branch. */
  ours: string
}

/** git merges changes of more files than this. */
const changesMax = 1_000

/**
 * Applies a change to a branch's tree when no merge is necessary: the branch has not changed the files of the change, and
 * neither side can contain a rename that matters. The result equals that of git.
 *
 * @returns null when git must merge
 */
export async function pickPlainly(
  repository: OpenRepository,
  trees: PickedTrees,
): Promise<TreeFolder | null> {
  const changes = await compareTrees(repository, trees.base, trees.picked, changesMax)
  if (!changes || mayRename(changes) || changes.some(hasSubmodule)) return null
  const folders = foldersOf(changes.map(({ path }) => ({ path, previousPath: path })))
  const [base, ours] = await Promise.all([
    loadTree(repository, trees.base, folders),
    loadTree(repository, trees.ours, folders),
  ])
  if (!changes.every((change) => fits(ours, base, change))) return null
  for (const { path, after } of changes) {
    if (after) putFile(ours, path, { kind: 'file', mode: sane(after.mode), blob: after.id })
    else removeFile(ours, path)
  }
  return ours
}

/** git detects a rename when one file is removed and another one is added. */
const mayRename = (changes: readonly TreeChange[]) =>
  changes.some(({ before }) => before === null) && changes.some(({ after }) => after === null)

const hasSubmodule = ({ before, after }: TreeChange) =>
  before?.mode === fileModes.submodule || after?.mode === fileModes.submodule

function fits(ours: TreeFolder, base: TreeFolder, { path, before, after }: TreeChange): boolean {
  const standing = entryAt(ours, path)
  if (before)
    return standing?.kind === 'file' && standing.blob === before.id && standing.mode === sane(before.mode)
  if (standing !== null || after === null || crossesFile(ours, path)) return false
  // A branch without a folder of the base may have renamed it, and then git adds the new file to the renamed folder.
  return path.every((_, depth) => {
    const folder = path.slice(0, depth)
    return entryAt(base, folder)?.kind !== 'folder' || entryAt(ours, folder)?.kind === 'folder'
  })
}

/** Old tools wrote group-writable files, which git reads as regular ones. */
const sane = (mode: string) => (mode === '100664' ? fileModes.regular : mode)
