import type { Call } from '@switchyard/service-kit/http'
import type { Dependencies } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'
import { getCommitId } from './get-commit.js'

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
  { git }: Pick<Dependencies, 'git'>,
  { project }: ProjectCall,
  { revision, type }: { revision: string; type: 'all' | 'branch' | 'tag' },
  { signal }: Pick<Call, 'signal'>,
): Promise<CommitReference[]> {
  const repository = git.open(project, { signal })
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
