import { notFound } from '@switchyard/domain'
import {
  answered,
  endpoint,
  type Guard,
  list,
  ok,
  type Route,
  route,
  rowId,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import { requestBody } from '../repository/git-http/git-http.js'
import type { StorageDependencies } from './between-storages.js'
import * as betweenStorages from './between-storages.js'
import { secretHeader } from './storages.js'

/**
 * Returns the routes of the internal API between the git-api processes of several storages. It serves
 * repositories to copy, and finds empty ones.
 */
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

/** Finds empty repositories. A page of projects has 100 at most. */
const findEmpty = (deps: StorageDependencies) =>
  endpoint({
    input: z.object({ ids: list(rowId(), 100) }),
    handle: async ({ ids }) => ok({ empty: await betweenStorages.listEmptyRepositories(deps, ids) }),
  })

const infoRefs = (deps: StorageDependencies) =>
  endpoint({
    input: z.object({ ...project, service: z.literal('git-upload-pack') }),
    async handle({ id, service }, _access, { raw: { request, response }, signal }) {
      const type = `application/x-${service}-advertisement`
      response.set({ 'Content-Type': type, 'Cache-Control': 'no-cache' })
      await betweenStorages.advertiseAll(deps, id, {
        protocol: request.get('Git-Protocol'),
        signal,
        output: response,
      })
      return answered
    },
  })

const uploadPack = (deps: StorageDependencies) =>
  endpoint({
    input: z.object(project),
    async handle({ id }, _access, { raw, signal }) {
      const { request, response } = raw
      const input = requestBody(raw, 'git-upload-pack')
      response.set({ 'Content-Type': 'application/x-git-upload-pack-result', 'Cache-Control': 'no-cache' })
      await betweenStorages.serveAll(deps, id, {
        protocol: request.get('Git-Protocol'),
        signal,
        input,
        output: response,
      })
      response.end()
      return answered
    },
  })

const listObjects = (deps: StorageDependencies) =>
  endpoint({
    input: z.object(project),
    handle: async ({ id }) => ok(await betweenStorages.listAllLfsObjects(deps, id)),
  })

const sendObject = (deps: StorageDependencies) =>
  endpoint({
    input: z.object({ ...project, oid: text() }),
    async handle({ id, oid }, _access, { raw: { response }, signal }) {
      const { size, write } = await betweenStorages.openLfsObject(deps, id, oid, signal)
      response.type('application/octet-stream').set('Content-Length', String(size))
      await write(response)
      response.end()
      return answered
    },
  })
