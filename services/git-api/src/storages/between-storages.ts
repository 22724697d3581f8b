import type { Readable, Writable } from 'node:stream'
import { type Database, findRepositoryLocation } from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import type { LfsObject } from '@switchyard/domain/commit'
import type { Git } from '@switchyard/git-storage/git'
import { advertiseRefs, serveFetch } from '@switchyard/git-storage/git-http'
import { findLfsObject, listLfsObjects, writeLfsObject } from '@switchyard/git-storage/lfs'
import { hasNoBranch } from '@switchyard/git-storage/references'
import type { Repository } from '@switchyard/git-storage/repository'
import type { Storages } from './storages.js'

export interface StorageDependencies {
  database: Database
  git: Git
  storages: Storages
  /** Time after which a client that neither sends nor reads is disconnected. */
  transferIdleMs: number
}

/** The connection to the git-api of another storage. */
interface Connection {
  protocol: string | undefined
  signal: AbortSignal
  output: Writable
}

/** @throws DomainError not-found when the repository is not in this storage */
async function openOwn(
  { database, git, storages }: StorageDependencies,
  projectId: number,
  signal?: AbortSignal,
): Promise<Repository> {
  const location = await findRepositoryLocation(database, projectId)
  if (location?.storage !== storages.own) throw notFound('Repository')
  return git.open(location, { signal })
}

/** Lists all references, including hidden ones. */
export async function advertiseAll(
  deps: StorageDependencies,
  projectId: number,
  connection: Connection,
): Promise<void> {
  const { path } = await openOwn(deps, projectId)
  await advertiseRefs(sessionOf(deps.transferIdleMs, path, connection), 'git-upload-pack', connection.output)
}

/** Serves a fetch of any reference. The caller ends the output. */
export async function serveAll(
  deps: StorageDependencies,
  projectId: number,
  connection: Connection & { input: Readable },
): Promise<void> {
  const { path } = await openOwn(deps, projectId)
  await serveFetch(sessionOf(deps.transferIdleMs, path, connection), connection.input, connection.output)
}

const sessionOf = (transferIdleMs: number, path: string, { protocol, signal }: Connection) => ({
  path,
  protocol,
  signal,
  idleMs: transferIdleMs,
  seesAll: true,
})

export const listAllLfsObjects = async (deps: StorageDependencies, projectId: number): Promise<LfsObject[]> =>
  listLfsObjects(await openOwn(deps, projectId))

/**
 * Returns the size of an object and a function that writes its bytes; the caller ends the output.
 *
 * @throws DomainError not-found
 */
export async function openLfsObject(
  deps: StorageDependencies,
  projectId: number,
  oid: string,
  signal: AbortSignal,
): Promise<{ size: number; write: (output: Writable) => Promise<void> }> {
  const repository = await openOwn(deps, projectId, signal)
  const size = await findLfsObject(repository, oid)
  if (size === null) throw notFound('LFS Object')
  const reading = { range: { start: 0, end: size - 1 }, idleMs: deps.transferIdleMs }
  return { size, write: (output) => writeLfsObject(repository, oid, output, reading) }
}

/** Lists the given projects whose repository is in this storage and has no branch yet. */
export async function listEmptyRepositories(
  deps: StorageDependencies,
  projectIds: readonly number[],
): Promise<number[]> {
  const empty: number[] = []
  for (const id of projectIds) {
    const location = await findRepositoryLocation(deps.database, id)
    if (location?.storage === deps.storages.own && (await hasNoBranch(deps.git.open(location))))
      empty.push(id)
  }
  return empty
}
