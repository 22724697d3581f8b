import {
  type AuditAuthor,
  inTransaction,
  type Project,
  type ProjectChanges,
  type ProjectWithOwner,
  recordAuditEvent,
  updateProject,
  violatedUniqueIndex,
} from '@switchyard/db'
import { forbidden, invalid, notFound } from '@switchyard/domain'
import { accessLevels, projectProblems } from '@switchyard/domain/access'
import { isNewBranchName } from '@switchyard/domain/commit'
import type { Repository } from '@switchyard/git-storage'
import type { Dependencies } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'

type Needed = Pick<Dependencies, 'database' | 'git' | 'guards'>

/**
 * Changes a project. Maintainers may change everything but who sees it, which is the owner's to decide.
 *
 * @throws DomainError forbidden; invalid, by field; not-found when the project was deleted meanwhile
 */
export async function changeProject(
  deps: Needed,
  { project, level }: ProjectCall,
  asked: ProjectChanges,
  author: AuditAuthor,
): Promise<ProjectWithOwner> {
  const changes = differences(project, asked)
  if (changes.visibility !== undefined && level < accessLevels.owner) {
    throw forbidden('You need at least the role Owner in this project')
  }
  refuseBadNames(project, changes)
  if (changes.defaultBranch !== undefined) {
    await refuseMissingBranch(deps.git.open(project), changes.defaultBranch)
  }
  const changed = await write(deps, project, changes, author)
  deps.guards.noteChange(project.id)
  return changed
}

/** What is asked for and not so already. */
const differences = (project: Project, asked: ProjectChanges): ProjectChanges =>
  Object.fromEntries(
    Object.entries(asked).filter(
      ([field, value]) => value !== undefined && value !== project[field as keyof ProjectChanges],
    ),
  )

function refuseBadNames({ name, path }: Project, changes: ProjectChanges): void {
  const found = Object.entries(projectProblems({ name, path, ...changes }))
  const problems = Object.fromEntries(found.filter(([field]) => field in changes))
  if (Object.keys(problems).length > 0) throw invalid(problems)
}

/** A repository without any branch may name one that comes later. */
async function refuseMissingBranch(repository: Repository, branch: string): Promise<void> {
  if ((await repository.findBranchTip(branch)) !== null) return
  if (isNewBranchName(branch) && (await repository.hasNoBranch())) return
  const question = `Do you have a branch named '${branch}' in your repository?`
  throw invalid({ base: [`Could not set the default branch. ${question}`] })
}

async function write(
  { database, git }: Needed,
  project: Project,
  changes: ProjectChanges,
  author: AuditAuthor,
): Promise<ProjectWithOwner> {
  try {
    return await inTransaction(database, async (transaction) => {
      const changed = await updateProject(transaction, project, changes)
      if (!changed) throw notFound('Project')
      if (Object.keys(changes).length === 0) return changed
      await recordAuditEvent(transaction, author, {
        eventName: 'project_updated',
        entityType: 'Project',
        entityId: project.id,
        details: {
          changed: Object.keys(changes),
          path_with_namespace: changed.pathWithNamespace,
          visibility: changed.visibility,
        },
      })
      // A clone checks out what HEAD points to. Last, so that a refused change leaves it alone.
      if (changes.defaultBranch !== undefined) await git.open(project).pointHeadTo(changes.defaultBranch)
      return changed
    })
  } catch (error) {
    if (violatedUniqueIndex(error) === null) throw error
    throw invalid({ path: ['has already been taken'] }, { cause: error })
  }
}
