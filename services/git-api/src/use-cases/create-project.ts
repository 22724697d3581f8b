import {
  deleteProject,
  createProject as insertProject,
  inTransaction,
  nextProjectId,
  type ProjectWithOwner,
  type User,
  violatedUniqueIndex,
} from '@switchyard/db'
import { invalid } from '@switchyard/domain'
import { pathOfName, projectProblems, type Visibility } from '@switchyard/domain/access'
import { isNewBranchName, readActions, type Signature } from '@switchyard/domain/commit'
import { diskPathOf } from '@switchyard/git-storage'
import type { Dependencies } from '../dependencies.js'

export interface CreateProject {
  owner: User
  /** Either may be missing, not both: the path is made from the name, or the name is the path. */
  name: string | undefined
  path: string | undefined
  description: string | null
  visibility: Visibility
  defaultBranch: string
  withReadme: boolean
}

/**
 * Adds a project and its repository. The row is committed only after the repository exists; what one of
 * the two leaves behind when the other fails is removed.
 *
 * @throws DomainError invalid, by field
 */
export async function createProject(deps: Dependencies, command: CreateProject): Promise<ProjectWithOwner> {
  const path = command.path ?? pathOfName(command.name ?? '')
  const name = command.name ?? path
  refuseBadNames(name, path, command.defaultBranch)
  let diskPath: string | undefined
  try {
    const project = await inTransaction(deps.database, async (transaction) => {
      const id = await nextProjectId(transaction)
      const row = { ...projectRow(command), id, name, path, diskPath: diskPathOf(id) }
      const inserted = await insertProject(transaction, row)
      await deps.git.createRepository(row.diskPath, row.defaultBranch)
      diskPath = row.diskPath
      return inserted
    })
    if (command.withReadme) await addReadme(deps, project, command.owner)
    return project
  } catch (error) {
    if (diskPath !== undefined) await deps.git.deleteRepository(diskPath)
    if (violatedUniqueIndex(error) === null) throw error
    const taken = ['has already been taken']
    throw invalid({ name: taken, path: taken }, { cause: error })
  }
}

const projectRow = ({ owner, description, visibility, defaultBranch }: CreateProject) => ({
  owner,
  description,
  visibility,
  defaultBranch,
})

function refuseBadNames(name: string, path: string, defaultBranch: string): void {
  const problems = projectProblems({ name, path })
  if (!isNewBranchName(defaultBranch)) problems.default_branch = ['is not a valid branch name']
  if (Object.keys(problems).length > 0) throw invalid(problems)
}

async function addReadme({ database, git }: Dependencies, project: ProjectWithOwner, owner: User) {
  const content = `# ${project.name}\n${project.description ? `\n${project.description}\n` : ''}`
  const author: Signature = {
    name: owner.name,
    email: owner.email,
    seconds: Math.floor(Date.now() / 1000),
    offsetMinutes: 0,
  }
  try {
    await git.open(project).writeCommit({
      branch: project.defaultBranch,
      tip: null,
      parent: null,
      edits: readActions([{ action: 'create', file_path: 'README.md', content, encoding: 'text' }]),
      author,
      committer: author,
      message: 'Initial commit',
    })
  } catch (error) {
    await deleteProject(database, project.id)
    throw error
  }
}
