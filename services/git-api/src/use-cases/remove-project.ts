import {
  type AuditAuthor,
  deleteProject,
  inTransaction,
  type Project,
  recordAuditEvent,
} from '@switchyard/db'
import type { Dependencies } from '../dependencies.js'

/**
 * Removes a project, then its repository. The row goes first: nobody can reach a repository without it,
 * so files that cannot be removed are a matter for operators and not for the caller.
 */
export async function removeProject(
  { database, git, logger }: Dependencies,
  project: Project,
  author: AuditAuthor,
): Promise<void> {
  await inTransaction(database, async (transaction) => {
    await deleteProject(transaction, project.id)
    await recordAuditEvent(transaction, author, {
      eventName: 'project_destroyed',
      entityType: 'Project',
      entityId: project.id,
      details: { path_with_namespace: project.pathWithNamespace },
    })
  })
  try {
    await git.deleteRepository(project.diskPath)
  } catch (error) {
    logger.error(
      { err: error, disk_path: project.diskPath },
      'could not remove the repository of a deleted project',
    )
  }
}
