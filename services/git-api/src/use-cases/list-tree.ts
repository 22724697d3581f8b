import { notFound } from '@switchyard/domain'
import type { FolderEntry } from '@switchyard/git-storage'
import type { ProjectCall } from '../guards.js'

export interface TreeQuery {
  /** Branch, tag or hash; undefined: the default branch. */
  revision: string | undefined
  /** Of the folder; empty: the root. */
  path: string
  isRecursive: boolean
  /** Undefined: every entry, from the first on. */
  rows: { skip: number; take: number } | undefined
}

const typeOrder = { tree: 0, blob: 1, commit: 2 }

/**
 * One page of the entries of a folder: folders first, then files, then submodules, each in git's order.
 *
 * @throws DomainError not-found for a revision that names no commit, and for a path that is no folder
 */
export async function listTree(
  { project, repository }: ProjectCall,
  { revision, path, isRecursive, rows }: TreeQuery,
): Promise<{ entries: FolderEntry[]; total: number }> {
  const commit = await repository.findCommit(revision ?? `refs/heads/${project.defaultBranch}`)
  if (!commit) throw notFound('Tree')
  const found = await repository.listFolder({ treeId: commit.treeId, folderPath: path, isRecursive, rows })
  if (!found) throw notFound('invalid revision or path')
  const entries = found.entries.toSorted((a, b) => typeOrder[a.type] - typeOrder[b.type])
  return { entries, total: found.total }
}
