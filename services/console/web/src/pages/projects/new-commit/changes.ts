import type { QueryClient } from '@tanstack/react-query'
import type { PostProjectsByIdRepositoryCommitsBody } from '../../../generated/types.gen'
import { fileQuery, splitPath, treeQuery } from '../files/file-data'

export const kinds = ['write', 'move', 'delete'] as const
export type Kind = (typeof kinds)[number]

/** One change of a new commit, as the form has it. */
export interface Change {
  key: number
  kind: Kind
  path: string
  /** Former path of a moved file. */
  previousPath: string
  content: string
  /** The file on the branch, when its text was loaded into `content`. */
  loaded?: { path: string; lastCommitId: string; hasCarriageReturns: boolean } | undefined
}

type Action = PostProjectsByIdRepositoryCommitsBody['actions'][number]

export function actionOf({ kind, path, previousPath, content, loaded }: Change): Action {
  if (kind === 'delete') return { action: 'delete', file_path: path }
  if (kind === 'move') return { action: 'move', file_path: path, previous_path: previousPath }
  if (loaded?.path !== path) return { action: 'upsert', file_path: path, content }
  return {
    action: 'update',
    file_path: path,
    // A browser field converts every line break to a line feed.
    content: loaded.hasCarriageReturns ? content.replace(/\r?\n/g, '\r\n') : content,
    // The commit is refused when another user has changed the file meanwhile.
    last_commit_id: loaded.lastCommitId,
  }
}

/**
 * Returns whether the branch has an entry. It searches folder by folder, because the API answers a request
 * for a missing file with an error.
 */
async function hasEntry(
  client: QueryClient,
  tree: { project: string; ref: string },
  path: string,
  type: 'tree' | 'blob',
): Promise<boolean> {
  const [folder, name] = splitPath(path)
  if (folder !== '' && !(await hasEntry(client, tree, folder, 'tree'))) return false
  const entries = await client.fetchQuery(treeQuery(tree.project, tree.ref, folder))
  return entries.some((entry) => entry.name === name && entry.type === type)
}

/** Loads the text of a file for the form; null when there is no such file, or when it is not text. */
export async function loadFile(client: QueryClient, project: string, ref: string, path: string) {
  if (path === '' || path.endsWith('/') || !(await hasEntry(client, { project, ref }, path, 'blob')))
    return null
  const { file, text, isUtf8 } = await client.fetchQuery(fileQuery(project, ref, path))
  if (text === null || !isUtf8) return null
  const hasCarriageReturns = text.includes('\r\n')
  return {
    content: text.replace(/\r\n/g, '\n'),
    loaded: { path, lastCommitId: file.last_commit_id, hasCarriageReturns },
  }
}
