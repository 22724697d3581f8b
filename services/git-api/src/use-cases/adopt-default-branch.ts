import {
  changeDefaultBranch,
  type DefaultBranchChoice,
  findProjectForUser,
  inTransaction,
  type Project,
} from '@switchyard/db'
import { isBranchOfGitAnnex, type Repository } from '@switchyard/git-storage'
import type { Dependencies } from '../dependencies.js'

/** Another request may change the branches while one is chosen; then it is chosen again. */
const triesMax = 3

/**
 * Lets another branch stand in for the default branch while that does not exist: a client that pushes `master` to a new project
 * finds its commits without naming the branch, and clones check it out. When the default branch comes, it takes its place. The
 * references have changed already, so this ignores the signal of the request and continues when the client disconnects.
 *
 * @returns the project as it is now
 */
export async function adoptDefaultBranch(
  { database, git }: Pick<Dependencies, 'database' | 'git'>,
  { id, ...known }: Project,
): Promise<Project> {
  let project: Project = { id, ...known }
  for (let tries = 0; tries < triesMax; tries += 1) {
    // The project of the request may have been read before another request changed its default branch.
    const found = await findProjectForUser(database, String(id), null)
    if (!found) return project
    project = found.project
    const { defaultBranch: branch } = project
    const to = await chooseDefaultBranch(git.open(project), project)
    if (to.defaultBranch === branch) return project
    const changing = project
    await inTransaction(database, async (transaction) => {
      // HEAD moves last and while the row is locked, so that the two do not differ.
      if (await changeDefaultBranch(transaction, id, { from: changing, to })) {
        await git.open(changing).pointHeadTo(to.defaultBranch)
      }
    })
  }
  return project
}

async function chooseDefaultBranch(
  repository: Repository,
  { defaultBranch, wantedDefaultBranch }: DefaultBranchChoice,
): Promise<DefaultBranchChoice> {
  const wanted = wantedDefaultBranch ?? defaultBranch
  if ((await repository.findBranchTip(wanted)) !== null) {
    return { defaultBranch: wanted, wantedDefaultBranch: null }
  }
  const isUsable = wantedDefaultBranch !== null && !isBranchOfGitAnnex(defaultBranch)
  if (isUsable && (await repository.findBranchTip(defaultBranch)) !== null) {
    return { defaultBranch, wantedDefaultBranch }
  }
  const substitute = await repository.findUsualBranch()
  if (substitute === null) return { defaultBranch, wantedDefaultBranch }
  return { defaultBranch: substitute, wantedDefaultBranch: wanted }
}
