import { type AuditAuthor, inTransaction, type RepositoryStorageMove } from '@switchyard/db'
import { invalid, notFound } from '@switchyard/domain'
import { recordProjectEvent } from '../audit/audit.js'
import type { Dependencies, Rows } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'
import { createRepositoryMove, findRepositoryMove, listRepositoryMoves } from './store.js'

/**
 * Requests a move, which the git-api of the destination carries out.
 *
 * @throws DomainError invalid for a storage that is not known here or has the repository already; conflict while another move is unfinished
 */
export async function requestMove(
  { database, storages }: Dependencies,
  { project }: ProjectCall,
  destination: string,
  author: AuditAuthor,
): Promise<RepositoryStorageMove> {
  const { id, diskPath, storage: source, pathWithNamespace } = project
  if (destination === source) throw invalid({ destination_storage_name: ['holds the repository already'] })
  if (!storages.others.has(destination)) throw invalid({ destination_storage_name: ['is not known'] })
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

export const listMoves = (
  { database }: Dependencies,
  { project }: ProjectCall,
  rows: Rows,
): Promise<{ moves: RepositoryStorageMove[]; total: number }> =>
  listRepositoryMoves(database, project.id, rows)

/** @throws DomainError not-found */
export async function getMove(
  { database }: Dependencies,
  { project }: ProjectCall,
  id: number,
): Promise<RepositoryStorageMove> {
  const move = await findRepositoryMove(database, project.id, id)
  if (!move) throw notFound()
  return move
}
