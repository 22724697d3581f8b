import type { Readable, Writable } from 'node:stream'
import { type Database, findRepositoryLocation } from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import type { LfsObject } from '@switchyard/domain/commit'
import { hasNoBranch } from '@switchyard/git-storage/find-refs'
import type { Git } from '@switchyard/git-storage/git'
import { findLfsObject, listLfsObjects, writeLfsObject } from '@switchyard/git-storage/lfs-objects'
import type { Repository } from '@switchyard/git-storage/repository'
import { advertiseRefs, serveFetch } from '@switchyard/git-storage/smart-http'
import {
  endpoint,
  type Guard,
  list,
  ok,
  type Route,
  route,
  rowId,
  streamed,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import { requestBody } from '../shapes/bodies.js'
import { type Storages, secretHeader } from './storages.js'

/** The internal API between the git-api processes of several storages: reads repositories to copy, and finds empty ones. */
export function betweenStoragesRoutes(deps: StorageDependencies): Route[] {
  const guard: Guard<void> = ({ raw }) => {
    if (!deps.storages.isSecret(raw.request.get(secretHeader))) throw notFound()
  }
  const path = '/-/storages'
  const repository = `${path}/projects/:id/repository.git`
  const objects = `${path}/projects/:id/lfs_objects`
  const options = { outsideApi: true, internal: true }
  return [
    route('POST', `${path}/empty_repositories`, guard, findEmpty(deps), options),
    route('GET', `${repository}/info/refs`, guard, infoRefs(deps), options),
    route('POST', `${repository}/git-upload-pack`, guard, uploadPack(deps), {
      ...options,
      streamsBody: true,
    }),
    route('GET', objects, guard, listObjects(deps), options),
    route('GET', `${objects}/:oid`, guard, sendObject(deps), options),
  ]
}

const project = { id: rowId() }

/** A page of projects has 100 at most. */
const findEmpty = (deps: StorageDependencies) =>
  endpoint({
    input: z.object({ ids: list(rowId(), 100) }),
    handle: async ({ ids }) => ok({ empty: await findEmptyRepositories(deps, ids) }),
  })

const infoRefs = (deps: StorageDependencies) =>
  endpoint({
    input: z.object({ ...project, service: z.literal('git-upload-pack') }),
    async handle({ id, service }, _access, { raw: { request, response }, signal }) {
      const type = `application/x-${service}-advertisement`
      response.set({ 'Content-Type': type, 'Cache-Control': 'no-cache' })
      await advertiseAll(deps, id, {
        protocol: request.get('Git-Protocol'),
        signal,
        output: response,
      })
      return streamed
    },
  })

const uploadPack = (deps: StorageDependencies) =>
  endpoint({
    input: z.object(project),
    async handle({ id }, _access, { raw, signal }) {
      const { request, response } = raw
      const input = requestBody(raw, 'git-upload-pack')
      response.set({ 'Content-Type': 'application/x-git-upload-pack-result', 'Cache-Control': 'no-cache' })
      await serveAll(deps, id, {
        protocol: request.get('Git-Protocol'),
        signal,
        input,
        output: response,
      })
      response.end()
      return streamed
    },
  })

const listObjects = (deps: StorageDependencies) =>
  endpoint({
    input: z.object(project),
    handle: async ({ id }) => ok(await listAllLfsObjects(deps, id)),
  })

const sendObject = (deps: StorageDependencies) =>
  endpoint({
    input: z.object({ ...project, oid: text() }),
    async handle({ id, oid }, _access, { raw: { response }, signal }) {
      const { size, write } = await openLfsObject(deps, id, oid, signal)
      response.type('application/octet-stream').set('Content-Length', String(size))
      await write(response)
      response.end()
      return streamed
    },
  })

export interface StorageDependencies {
  database: Database
  git: Git
  storages: Storages
  /** A client that neither sends nor reads for this time is disconnected. */
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

/** Lists every reference, hidden ones included. */
async function advertiseAll(
  deps: StorageDependencies,
  projectId: number,
  connection: Connection,
): Promise<void> {
  const { path } = await openOwn(deps, projectId)
  await advertiseRefs(sessionOf(deps.transferIdleMs, path, connection), 'git-upload-pack', connection.output)
}

/** Serves a fetch of any reference. The caller ends the output. */
async function serveAll(
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

const listAllLfsObjects = async (deps: StorageDependencies, projectId: number): Promise<LfsObject[]> =>
  listLfsObjects(await openOwn(deps, projectId))

/** The size of an object, and a function that writes its bytes; the caller ends the output. @throws DomainError not-found */
async function openLfsObject(
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

/** Those of the given projects whose repository is in this storage and has no branch yet. */
async function findEmptyRepositories(
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
