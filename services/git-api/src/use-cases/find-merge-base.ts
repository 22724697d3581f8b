import { excerpt, invalid, notFound } from '@switchyard/domain'
import type { Commit } from '@switchyard/domain/commit'
import type { ProjectCall } from '../guards.js'

/**
 * The newest common ancestor of several revisions.
 *
 * @throws DomainError invalid for fewer than two revisions, and for one that names no commit; not-found when the
 *   revisions have no common ancestor
 */
export async function findMergeBase(
  { repository }: ProjectCall,
  revisions: readonly string[],
): Promise<Commit> {
  if (revisions.length < 2) throw invalid('Provide at least 2 refs')
  const ids = await Promise.all(revisions.map((revision) => repository.findCommitId(revision)))
  const unknown = revisions.filter((_, index) => ids[index] === null)
  if (unknown.length > 0) {
    throw invalid(
      `Could not find ${unknown.length === 1 ? 'ref' : 'refs'}: ${unknown.map(excerpt).join(', ')}`,
    )
  }
  const base = await repository.findMergeBase(ids.filter((id) => id !== null))
  const commit = base === null ? null : await repository.findCommit(base)
  if (!commit) throw notFound('Merge Base')
  return commit
}
