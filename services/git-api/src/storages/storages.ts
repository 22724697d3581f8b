import { hash, timingSafeEqual } from 'node:crypto'
import type { Secret } from '@switchyard/config'
import {
  type AuditAuthor,
  type Database,
  inTransaction,
  type Project,
  type RepositoryStorageMove,
} from '@switchyard/db'
import { invalid, notFound, unavailable } from '@switchyard/domain'
import type { Metrics } from '@switchyard/service-kit/observability'
import { Counter } from 'prom-client'
import { recordProjectEvent } from '../audit/audit.js'
import type { Config } from '../config.js'
import { createRepositoryMove, findRepositoryMove } from './store.js'

export { listRepositoryMoves } from './store.js'

type StorageConfig = Pick<
  Config,
  | 'SWITCHYARD_STORAGE'
  | 'SWITCHYARD_STORAGES'
  | 'SWITCHYARD_STORAGES_SECRET'
  | 'SWITCHYARD_NEW_PROJECTS_STORAGE'
  | 'STORAGE_MOVE_GRACE_SECONDS'
>

/** The storages of this installation. */
export interface Storages {
  /** Name of the storage of this process. */
  own: string
  /** Base URL of the git-api of each other storage, by the name of the storage. */
  others: ReadonlyMap<string, string>
  /** Name of the storage of new projects. */
  ofNewProjects: string
  /** Time for which the former copy of a moved repository is kept. */
  graceMs: number
  /**
   * The header that authenticates this process to the git-api of other storages; null without other storages.
   */
  header: { name: string; value: string } | null
  /** Returns whether a header value is the secret of the storages. */
  isSecret: (value: string | undefined) => boolean
}

export const secretHeader = 'X-Switchyard-Storages-Secret'

/** @throws Error when the settings contradict each other */
export function storagesOf(config: StorageConfig): Storages {
  const own = config.SWITCHYARD_STORAGE
  const others = new Map(config.SWITCHYARD_STORAGES)
  others.delete(own)
  const secret = config.SWITCHYARD_STORAGES_SECRET
  const ofNewProjects = config.SWITCHYARD_NEW_PROJECTS_STORAGE ?? own
  if (others.size > 0 && !secret) throw new Error('SWITCHYARD_STORAGES needs SWITCHYARD_STORAGES_SECRET')
  if (ofNewProjects !== own && !others.has(ofNewProjects)) {
    throw new Error('SWITCHYARD_NEW_PROJECTS_STORAGE is not one of SWITCHYARD_STORAGES')
  }
  return {
    own,
    others,
    ofNewProjects,
    graceMs: config.STORAGE_MOVE_GRACE_SECONDS * 1000,
    header: secret && others.size > 0 ? { name: secretHeader, value: secret.reveal() } : null,
    isSecret: (value) => others.size > 0 && isEqual(value, secret),
  }
}

const isEqual = (value: string | undefined, secret: Secret | undefined) =>
  value !== undefined &&
  secret !== undefined &&
  timingSafeEqual(hash('sha256', value, 'buffer'), hash('sha256', secret.reveal(), 'buffer'))

/**
 * Requests a move, which the git-api of the destination carries out.
 *
 * @throws DomainError invalid for an unknown storage, and for the storage that holds the repository already;
 *   conflict while another move is unfinished
 */
export async function requestMove(
  { database, storages }: { database: Database; storages: Storages },
  project: Project,
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

/** @throws DomainError not-found */
export async function getMove(
  database: Database,
  { id: projectId }: Project,
  id: number,
): Promise<RepositoryStorageMove> {
  const move = await findRepositoryMove(database, projectId, id)
  if (!move) throw notFound()
  return move
}

export const repositoryMoved = () =>
  unavailable('the repository has been moved to another storage', { retryAfterMs: 1_000 })

/**
 * Lists the given projects of another storage whose repository has no branch yet. The client of other
 * storages is loaded only here.
 *
 * @throws DomainError unavailable when this process does not know the storage, or gets no valid answer from
 *   it
 */
export async function listEmptyRepositoriesIn(
  storages: Storages,
  name: string,
  projectIds: readonly number[],
  signal: AbortSignal,
): Promise<number[]> {
  const { otherStorage } = await import('./other-storage.js')
  return otherStorage(storages, name).listEmptyRepositories(projectIds, signal)
}

export type StorageMetrics = ReturnType<typeof createStorageMetrics>

/**
 * Creates the counters of moves. An installation with one storage has them, too, so that their alerts can be
 * tested.
 */
export function createStorageMetrics({ registry }: Pick<Metrics, 'registry'>) {
  const moved = new Counter({
    name: 'git_api_repository_moves_total',
    help: 'Moves of repositories to this storage that are over, by result.',
    labelNames: ['result'],
    registers: [registry],
  })
  for (const result of ['moved', 'failed']) moved.inc({ result }, 0)
  return {
    moved,
    forwarded: new Counter({
      name: 'git_api_forwarded_requests_total',
      help: 'Requests that were forwarded to the git-api of another storage.',
      labelNames: ['storage'],
      registers: [registry],
    }),
    refused: new Counter({
      name: 'git_api_refused_forwards_total',
      help: 'Forwarded requests that were refused because the project is not here either.',
      registers: [registry],
    }),
  }
}
