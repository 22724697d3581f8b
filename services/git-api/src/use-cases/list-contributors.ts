import { notFound } from '@switchyard/domain'
import type { Contributor } from '@switchyard/git-storage'
import type { ProjectCall } from '../guards.js'

export interface ContributorQuery {
  /** Branch, tag or hash; undefined: the default branch. */
  revision: string | undefined
  order: 'commits' | 'name' | 'email'
  descending: boolean
}

/** Memory of a contributor, roughly. */
const contributorBytes = 200

/**
 * The authors of the commits in the history of a revision. An empty repository has none.
 *
 * @throws DomainError not-found for a revision that names no commit
 */
export async function listContributors(
  { project, repository }: ProjectCall,
  { revision, order, descending }: ContributorQuery,
): Promise<Contributor[]> {
  const id = await repository.findCommitId(revision ?? `refs/heads/${project.defaultBranch}`)
  if (id === null && (revision === undefined || (await repository.hasNoBranch()))) return []
  if (id === null) throw notFound('Ref')
  const found = await repository.getOrCompute(
    `contributors ${id}`,
    () => repository.listContributors(id),
    ({ length }) => length * contributorBytes,
  )
  const sorted = found.toSorted((a, b) =>
    order === 'commits' ? a.commits - b.commits : compareText(a[order], b[order]),
  )
  return descending ? sorted.reverse() : sorted
}

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
