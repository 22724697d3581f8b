import { hasCommitStatus, listCommitStatuses, type Project } from '@switchyard/db'
import type { Dependencies } from '../dependencies.js'
import { getCommitId } from './get-commit.js'

export interface StatusQuery {
  /** Hash, branch or tag. */
  revision: string
  ref?: string | undefined
  stage?: string | undefined
  name?: string | undefined
  all: boolean
  newestFirst: boolean
}

/**
 * Statuses of a commit. Without a ref these are the default branch's; when that has none for the commit,
 * those of every ref.
 *
 * @throws DomainError not-found for an unknown commit
 */
export async function listStatuses(
  { database, git }: Pick<Dependencies, 'database' | 'git'>,
  project: Project,
  { revision, ref, stage, name, all, newestFirst }: StatusQuery,
  rows: { skip: number; take: number },
  signal?: AbortSignal,
) {
  const sha = await getCommitId(git.open(project, { signal }), revision)
  const filter = { projectId: project.id, sha, stage, name, latest: !all, newestFirst }
  const page = await listCommitStatuses(database, { ...filter, ref: ref ?? project.defaultBranch }, rows)
  if (ref !== undefined || page.total > 0) return page
  const ofDefault = { projectId: project.id, sha, ref: project.defaultBranch }
  return (await hasCommitStatus(database, ofDefault)) ? page : listCommitStatuses(database, filter, rows)
}
