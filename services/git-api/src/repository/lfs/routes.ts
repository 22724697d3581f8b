import type { Database } from '@switchyard/db'
import { conflict, DomainError, invalid, notFound } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import {
  answered,
  arriving,
  type Call,
  created,
  emptyAs,
  endpoint,
  filledText,
  flag,
  type Guard,
  integer,
  list,
  ok,
  pathCharsMax,
  type Route,
  route,
  rowId,
  startBytes,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import { createGitGuards, type ProjectCall } from '../../guards.js'
import { optional, optionalText } from '../../shapes/parameters.js'
import type { LfsDependencies } from './lfs.js'
import * as lfs from './lfs.js'
import * as locks from './locks.js'
import { lfsAnswers, presentCursor, presentLfsBatch, presentLfsLock } from './present.js'

/**
 * Returns the routes of the API of Git LFS. Callers who may fetch may download; callers who may push may
 * upload and lock.
 */
export function lfsRoutes(deps: LfsDependencies): Route[] {
  const guards = createGitGuards(deps.guards)
  const fetch = whereEnabled(guards.fetch)
  const push = whereEnabled(guards.push)
  const repository = '/:namespace/:project'
  const api = `${repository}/info/lfs`
  const object = `${repository}/gitlab-lfs/objects/:oid`
  const options = { outsideApi: true, basicAuthentication: true, answerForm: lfsAnswers }
  return [
    route('POST', `${api}/objects/batch`, fetch, batch(deps, push), options),
    route('POST', `${api}/objects/verify`, push, verify(deps), options),
    route('GET', object, fetch, download(deps), { ...options, longLived: true }),
    route('PUT', `${object}/:size`, push, upload(deps), { ...options, streamsBody: true, longLived: true }),
    route('GET', `${api}/locks`, fetch, listLocks(deps.database), options),
    route('POST', `${api}/locks`, push, createLock(deps.database), options),
    route('POST', `${api}/locks/verify`, push, verifyLocks(deps.database), options),
    route('POST', `${api}/locks/:lock_id/unlock`, push, unlock(deps.database), options),
  ]
}

/**
 * Wraps a guard to refuse, as GitLab does, a project in which Git LFS is switched off. The wrapped guard has
 * then shown the project to the caller.
 */
const whereEnabled =
  <Access extends ProjectCall>(guard: Guard<Access>): Guard<Access> =>
  async (call) => {
    const access = await guard(call)
    if (!access.project.lfsEnabled) throw notFound()
    return access
  }

/** Most objects in one batch; clients of git-lfs send 100. */
const batchMax = 1000

const object = z.object({ oid: text(), size: integer() })

/** Answers with addresses for transfers of objects. Uploads need the right to push. */
const batch = (deps: LfsDependencies, push: Guard<ProjectCall>) =>
  endpoint({
    input: z.object({
      operation: z.enum(['upload', 'download']),
      objects: list(object, batchMax).refine((given) => given.length > 0, { error: 'is empty' }),
      transfers: optional(list(text()).refine((given) => given.includes('basic'), { error: 'has no basic' })),
      hash_algo: optional(text()),
    }),
    async handle({ operation, objects, hash_algo }, access: ProjectCall, call) {
      if (operation === 'upload') await push(call)
      if ((hash_algo ?? 'sha256') !== 'sha256') throw conflict('The only hash algorithm is sha256')
      const find = operation === 'upload' ? lfs.planLfsUpload : lfs.describeLfsObjects
      const described = await find(deps, access, objects)
      const repositoryUrl = `${call.baseUrl}/${access.project.pathWithNamespace}.git`
      const body = presentLfsBatch({
        operation,
        objects: described,
        repositoryUrl,
        credentials: sentWith(call),
      })
      return ok(body, { 'Cache-Control': 'no-store' })
    },
  })

function sentWith({ raw: { request } }: Call): Record<string, string> {
  const names = ['Authorization', 'PRIVATE-TOKEN']
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = request.get(name)
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

/** Confirms to a client that an uploaded object is stored. */
const verify = (deps: LfsDependencies) =>
  endpoint({
    input: object,
    async handle(given, access: ProjectCall) {
      await lfs.verifyLfsObject(deps, access, given)
      return ok({})
    },
  })

/** Sends the bytes of an object, or the part of them that `Range` asks for. */
const download = (deps: LfsDependencies) =>
  endpoint({
    input: z.object({ oid: text() }),
    async handle({ oid }, access: ProjectCall, call) {
      const { response } = call.raw
      const found = await lfs.openLfsObject(deps, access, oid, call)
      response.type('application/octet-stream')
      const range = startBytes(call.raw, { etag: `"${oid}"`, size: found.size })
      if (range) await found.write(response, range)
      response.end()
      return answered
    },
  })

/** Receives the bytes of an object, whatever content type the client sends. */
const upload = (deps: LfsDependencies) =>
  endpoint({
    input: z.object({ oid: text(), size: integer() }),
    async handle(given, access: ProjectCall, call) {
      const { request } = call.raw
      if (request.headers['content-encoding'] !== undefined) {
        throw new DomainError('unsupported-media-type', 'An LFS object cannot be sent compressed')
      }
      const length = request.get('Content-Length')
      if (length !== undefined && Number(length) !== given.size) throw invalid('SHA256 or size mismatch')
      const pace = { periodMs: deps.transferIdleMs, periodBytesMin: 1 }
      await lfs.uploadLfsObject(deps, access, given, arriving(request, pace, call.signal), call)
      return ok({})
    },
  })

const pageMax = 100

const pageFields = {
  /** The `next_cursor` of the previous page. git-lfs sends an empty text for the first page. */
  cursor: emptyAs(undefined, optional(rowId())),
  /** git-lfs sends 0 when its user gave no limit. */
  limit: optional(integer()).transform((limit) => Math.min(limit && limit > 0 ? limit : pageMax, pageMax)),
}

/** Locks a file; 409 shows the existing lock. */
const createLock = (database: Database) =>
  endpoint({
    input: z.object({ path: filledText(pathCharsMax) }),
    async handle({ path }, access: ProjectCall<Caller>, call) {
      const { lock, isNew } = await locks.lockFile(database, access, path)
      const body = { lock: presentLfsLock(lock) }
      if (isNew) return created(body)
      return { status: 409, body: { ...body, message: 'already locked', request_id: call.requestId } }
    },
  })

/** Lists locks. A lock applies to every reference, so `refspec` is not a filter. */
const listLocks = (database: Database) =>
  endpoint({
    input: z.object({
      ...pageFields,
      path: optionalText(text(pathCharsMax)),
      id: emptyAs(undefined, optional(text())),
    }),
    async handle({ path, id, cursor, limit }, access: ProjectCall) {
      // An id outside the range of row ids matches no lock.
      const known = rowId().safeParse(id)
      if (id !== undefined && !known.success) return ok({ locks: [] })
      const filter = { path, id: known.data, after: cursor }
      const page = await locks.listLocks(database, access, filter, limit)
      return ok({ locks: page.locks.map(presentLfsLock), ...presentCursor(page.next) })
    },
  })

/** Lists the locks of the caller and of other users separately, for a client that is about to push. */
const verifyLocks = (database: Database) =>
  endpoint({
    input: z.object(pageFields),
    async handle({ cursor, limit }, access: ProjectCall<Caller>) {
      const page = await locks.listLocks(database, access, { after: cursor }, limit)
      const isOurs = ({ ownerId }: { ownerId: number }) => ownerId === access.caller.user.id
      return ok({
        ours: page.locks.filter(isOurs).map(presentLfsLock),
        theirs: page.locks.filter((lock) => !isOurs(lock)).map(presentLfsLock),
        ...presentCursor(page.next),
      })
    },
  })

const unlock = (database: Database) =>
  endpoint({
    input: z.object({ lock_id: rowId(), force: optional(flag()) }),
    async handle({ lock_id: id, force = false }, access: ProjectCall<Caller>) {
      return ok({ lock: presentLfsLock(await locks.unlockFile(database, access, { id, force })) })
    },
  })
