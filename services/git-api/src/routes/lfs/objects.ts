import { conflict, DomainError, invalid } from '@switchyard/domain'
import {
  arriving,
  type Call,
  endpoint,
  type Guard,
  integer,
  list,
  ok,
  streamed,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { presentLfsBatch } from '../../presenters/lfs.js'
import * as lfs from '../../use-cases/lfs-objects.js'
import { optional } from '../../wire/parameters.js'
import { startBytes } from '../start-bytes.js'

/** Clients of git-lfs send 100. */
const batchMax = 1000

const object = z.object({ oid: text(), size: integer() })

/** The addresses for transfers of objects. Uploads need the right to push. */
export const batch = (deps: Dependencies, push: Guard<ProjectCall>) =>
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

/** Tells a client that an object which it has uploaded is stored. */
export const verify = (deps: Dependencies) =>
  endpoint({
    input: object,
    async handle(given, access: ProjectCall) {
      await lfs.verifyLfsObject(deps, access, given)
      return ok({})
    },
  })

/** The bytes of an object, or the part of them that `Range` asks for. */
export const download = (deps: Dependencies) =>
  endpoint({
    input: z.object({ oid: text() }),
    async handle({ oid }, access: ProjectCall, call) {
      const { response } = call.raw
      const found = await lfs.openLfsObject(deps, access, oid, call)
      response.type('application/octet-stream')
      const range = startBytes(call.raw, { etag: `"${oid}"`, size: found.size })
      if (range) await found.write(response, range)
      response.end()
      return streamed
    },
  })

/** Takes the bytes of an object, whatever type the client says they are. */
export const upload = (deps: Dependencies) =>
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
