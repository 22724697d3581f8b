import { type AuditAuthor, type Database, inTransaction, type RepositoryStorageMove } from '@switchyard/db'
import { invalid, notFound } from '@switchyard/domain'
import { recordProjectEvent } from '../audit/audit.js'
import type { ProjectCall } from '../guards.js'
import type { Storages } from './storages.js'
import { createRepositoryMove, findRepositoryMove } from './store.js'

export { listRepositoryMoves } from './store.js'

/**
 * Requests a move, which the git-api of the destination carries out.
 *
 * @throws DomainError invalid for an unknown storage, and for the storage that holds the repository already;
 *   conflict while another move is unfinished
 */
export async function requestMove(
  database: Database,
  { others }: Storages,
  { project }: ProjectCall,
  destination: string,
  author: AuditAuthor,
): Promise<RepositoryStorageMove> {
  const { id, diskPath, storage: source, pathWithNamespace } = project
  if (destination === source) throw invalid({ destination_storage_name: ['holds the repository already'] })
  if (!others.has(destination)) throw invalid({ destination_storage_name: ['is not known'] })
  return inTransaction(database, async (transaction) => {
    const move = await createRepositoryMove(transaction, { projectId: id, diskPath, source, destination })
    await recordProjectEvent(transaction, author, id, 'project_storage_move_requested', {
      source,
      destination,
      path_with_namespace: pathWithNamespace,
    })
    return move
  })
}

/** @throws DomainError not-found */
export async function getMove(
  database: Database,
  { project }: ProjectCall,
  id: number,
): Promise<RepositoryStorageMove> {
  const move = await findRepositoryMove(database, project.id, id)
  if (!move) throw notFound()
  return move
}
