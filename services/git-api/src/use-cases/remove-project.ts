import { deleteProject, type Project } from '@switchyard/db'
import type { Dependencies } from '../dependencies.js'

/**
 * Removes a project, then its repository. The row goes first: nobody can reach a repository without it,
 * so files that cannot be removed are a matter for operators and not for the caller.
 */
export async function removeProject(
  { database, git, logger }: Dependencies,
  project: Project,
): Promise<void> {
  await deleteProject(database, project.id)
  try {
    await git.deleteRepository(project.diskPath)
  } catch (error) {
    logger.error(
      { err: error, disk_path: project.diskPath },
      'could not remove the repository of a deleted project',
    )
  }
}
