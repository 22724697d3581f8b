import { hasCommitStatus, listCommitStatuses, type Project } from '@switchyard/db'
import type { Dependencies } from '../dependencies.js'
import { getCommit } from './get-commit.js'

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
  const { id: sha } = await getCommit(git.open(project, signal), revision)
  const where = { projectId: project.id, sha }
  const ofDefault = { ...where, ref: project.defaultBranch }
  const chosen = ref ?? ((await hasCommitStatus(database, ofDefault)) ? ofDefault.ref : undefined)
  return listCommitStatuses(database, { ...where, ref: chosen, stage, name, latest: !all, newestFirst }, rows)
}
