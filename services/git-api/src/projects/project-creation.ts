import { inTransaction, isDatabaseUnavailable, violatedUniqueIndex } from '@switchyard/db'
import { forbidden, invalid, refuseProblems } from '@switchyard/domain'
import {
  accessLevels,
  type Caller,
  pathOfName,
  projectProblems,
  type Visibility,
} from '@switchyard/domain/access'
import { isNewRefName, readActions } from '@switchyard/domain/commit'
import { writeCommit } from '@switchyard/git-storage/commits'
import { diskPathOf } from '@switchyard/git-storage/repository-files'
import type { Call } from '@switchyard/service-kit/http'
import { findUser } from '../access/users/store.js'
import { signatureOf } from '../repository/references/references.js'
import {
  describeProject,
  type ProjectDependencies,
  type ProjectDescription,
  requireMayLimitSize,
} from './projects.js'
import type { NewProject, ProjectWithOwner, SettingChanges } from './store.js'
import * as store from './store.js'

interface CreateProjectCommand {
  /** The user in whose namespace the project is created; undefined: the caller. */
  ownerId: number | undefined
  /** Either name or path may be missing: the path is derived from the name, or the name is the path. */
  name: string | undefined
  path: string | undefined
  description: string | null
  visibility: Visibility
  defaultBranch: string
  topics: string[]
  defaultServices: string[]
  lfsEnabled: boolean
  settings: SettingChanges
  /** Bytes; 0: no limit; null or undefined: the limit of the installation. */
  repositorySizeLimit: number | null | undefined
  withReadme: boolean
}

/**
 * Creates a project and its repository, for the caller or, by an administrator, for any user. The row is
 * committed only after the repository exists. When one of the two fails, the other is removed; the repository
 * stays when it is unknown whether the row was committed.
 *
 * @throws DomainError forbidden for a project token; invalid, by field
 */
export async function createProject(
  deps: ProjectDependencies,
  caller: Caller,
  { ownerId = caller.user.id, withReadme, ...command }: CreateProjectCommand,
  { signal }: Call,
): Promise<ProjectDescription> {
  if (caller.token.projectId != null) throw forbidden()
  if (command.repositorySizeLimit != null) requireMayLimitSize(caller)
  const owner =
    caller.user.admin || caller.user.id === ownerId ? await findUser(deps.database, ownerId) : null
  if (!owner) throw invalid({ namespace: ['is not valid'] })
  const path = command.path ?? pathOfName(command.name ?? '')
  const name = command.name ?? path
  refuseBadNames(name, path, command.defaultBranch)
  const project = await insertProject(deps, { ...command, owner, name, path }, withReadme)
  const memberLevel = owner.id === caller.user.id ? accessLevels.owner : null
  return describeProject(deps.logger, project, {
    caller,
    memberLevel,
    repository: deps.git.open(project, { signal }),
  })
}

/** Makes the row and its repository, or neither. */
async function insertProject(
  deps: ProjectDependencies,
  given: Omit<NewProject, 'id' | 'storage' | 'diskPath'>,
  withReadme: boolean,
) {
  let diskPath: string | undefined
  try {
    const project = await inTransaction(deps.database, async (transaction) => {
      const id = await store.nextProjectId(transaction)
      const row = { ...given, id, storage: deps.storages.own, diskPath: diskPathOf(id) }
      const inserted = await store.createProject(transaction, row)
      await deps.git.createRepository(row.diskPath, row.defaultBranch)
      diskPath = row.diskPath
      return inserted
    })
    if (withReadme) await addReadme(deps, project)
    return project
  } catch (error) {
    // When the connection is lost, the row may be committed, and a repository without a row does no harm.
    if (diskPath !== undefined && !isDatabaseUnavailable(error)) await deps.git.deleteRepository(diskPath)
    if (violatedUniqueIndex(error) === null) throw error
    const taken = ['has already been taken']
    throw invalid({ name: taken, path: taken }, { cause: error })
  }
}

function refuseBadNames(name: string, path: string, defaultBranch: string): void {
  const problems = projectProblems({ name, path })
  if (!isNewRefName(defaultBranch)) problems.default_branch = ['is not a valid branch name']
  refuseProblems(problems)
}

async function addReadme({ database, git }: ProjectDependencies, project: ProjectWithOwner): Promise<void> {
  const content = `# ${project.name}\n${project.description ? `\n${project.description}\n` : ''}`
  const author = signatureOf(project.owner)
  try {
    await writeCommit(git.open(project), {
      branch: project.defaultBranch,
      tip: null,
      parent: null,
      edits: readActions([{ action: 'create', file_path: 'README.md', content, encoding: 'text' }]),
      author,
      committer: author,
      message: 'Initial commit',
    })
  } catch (error) {
    await store.deleteProject(database, project.id)
    throw error
  }
}
