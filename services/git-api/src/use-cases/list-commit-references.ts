import type { ProjectCall } from '../guards.js'
import { getCommitId } from './read-commits.js'

export interface CommitReference {
  type: 'branch' | 'tag'
  name: string
}

/**
 * The branches and tags that have a commit in their history, branches first, each by name.
 *
 * @throws DomainError not-found when the revision names no commit
 */
export async function listCommitReferences(
  { repository }: ProjectCall,
  { revision, type }: { revision: string; type: 'all' | 'branch' | 'tag' },
): Promise<CommitReference[]> {
  const id = await getCommitId(repository, revision)
  const [branches, tags] = await Promise.all([
    type === 'tag' ? [] : repository.findReferencesContaining(id, 'refs/heads/'),
    type === 'branch' ? [] : repository.findReferencesContaining(id, 'refs/tags/'),
  ])
  return [
    ...branches.map((name) => ({ type: 'branch' as const, name })),
    ...tags.map((name) => ({ type: 'tag' as const, name })),
  ]
}
