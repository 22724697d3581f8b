import { changeDefaultBranch, type Project } from '@switchyard/db'
import type { Dependencies } from '../dependencies.js'

/**
 * Makes the first branch of a repository its default branch: a client that pushes `master` to a new project finds its
 * commits without naming the branch, and clones check it out. Does nothing while the default branch exists. The
 * references have changed already, so this ignores the signal of the request and continues when the client disconnects.
 */
export async function adoptDefaultBranch({ database, git }: Dependencies, project: Project): Promise<void> {
  const repository = git.open(project)
  if ((await repository.findBranchTip(project.defaultBranch)) !== null) return
  const branch = await repository.findUsualBranch()
  if (branch === null) return
  await repository.pointHeadTo(branch)
  await changeDefaultBranch(database, project.id, { from: project.defaultBranch, to: branch })
}
