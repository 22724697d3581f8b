import { notFound } from '@switchyard/domain'
import type { FolderEntry } from '@switchyard/git-storage'
import type { ProjectCall } from '../guards.js'
import { takeWindow, type Window } from './window.js'

export interface TreeQuery {
  /** Branch, tag or hash; undefined: the default branch. */
  revision: string | undefined
  /** Of the folder; empty: the root. */
  path: string
  isRecursive: boolean
  /** Undefined: every entry. */
  window: Window | undefined
}

const typeOrder = { tree: 0, blob: 1, commit: 2 }

/**
 * One window of the entries of a folder. Within it, folders come first, then files, then submodules, each in git's order.
 *
 * @throws DomainError not-found for a revision that names no commit, and for a path that is not a folder; invalid-parameters
 *   for a window that begins after an entry that does not exist
 */
export async function listTree(
  { project, repository }: ProjectCall,
  { revision, path, isRecursive, window }: TreeQuery,
): Promise<{ entries: FolderEntry[]; total: number; next: string | null }> {
  const commit = await repository.findCommit(revision ?? `refs/heads/${project.defaultBranch}`)
  if (!commit) throw notFound('Tree')
  const rows = window && 'skip' in window ? window : undefined
  const found = await repository.listFolder({ treeId: commit.treeId, folderPath: path, isRecursive, rows })
  if (!found) throw notFound('invalid revision or path')
  const { items, next } =
    window && 'after' in window
      ? takeWindow(found.entries, window, (entry) => entry.path)
      : { items: found.entries, next: null }
  const entries = items.toSorted((a, b) => typeOrder[a.type] - typeOrder[b.type])
  return { entries, total: found.total, next }
}
