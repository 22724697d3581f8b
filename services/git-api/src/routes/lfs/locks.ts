import type { Caller } from '@switchyard/domain/access'
import {
  created,
  endpoint,
  filledText,
  flag,
  integer,
  ok,
  pathCharsMax,
  rowId,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { presentCursor, presentLfsLock } from '../../presenters/lfs.js'
import * as locks from '../../use-cases/lfs-locks.js'
import { optional, optionalText } from '../../wire/parameters.js'

const pageMax = 100

const pageFields = {
  /** The `next_cursor` of the page before; the empty text, which git-lfs sends, is the beginning. */
  cursor: z.preprocess((value) => (value === '' ? undefined : value), optional(rowId())),
  /** git-lfs sends 0 when its user asked for no number. */
  limit: optional(integer()).transform((limit) => Math.min(limit && limit > 0 ? limit : pageMax, pageMax)),
}

/** Locks a file; 409 shows the lock that it has already. */
export const createLock = (deps: Dependencies) =>
  endpoint({
    input: z.object({ path: filledText(pathCharsMax) }),
    async handle({ path }, access: ProjectCall<Caller>, call) {
      const { lock, isNew } = await locks.lockFile(deps, access, path)
      const body = { lock: presentLfsLock(lock) }
      if (isNew) return created(body)
      return { status: 409, body: { ...body, message: 'already locked', request_id: call.requestId } }
    },
  })

/** A lock holds for every reference, so `refspec` does not choose between locks. */
export const listLocks = (deps: Dependencies) =>
  endpoint({
    input: z.object({
      ...pageFields,
      path: optionalText(text(pathCharsMax)),
      id: z.preprocess((value) => (value === '' ? undefined : value), optional(text())),
    }),
    async handle({ path, id, cursor, limit }, access: ProjectCall) {
      // No lock has an id that is not the id of a row.
      const known = rowId().safeParse(id)
      if (id !== undefined && !known.success) return ok({ locks: [] })
      const filter = { path, id: known.data, after: cursor }
      const page = await locks.listLocks(deps, access, filter, limit)
      return ok({ locks: page.locks.map(presentLfsLock), ...presentCursor(page.next) })
    },
  })

/** Locks in two lists, of the caller and of other users, for a client that is about to push. */
export const verifyLocks = (deps: Dependencies) =>
  endpoint({
    input: z.object(pageFields),
    async handle({ cursor, limit }, access: ProjectCall<Caller>) {
      const page = await locks.listLocks(deps, access, { after: cursor }, limit)
      const isOurs = ({ ownerId }: { ownerId: number }) => ownerId === access.caller.user.id
      return ok({
        ours: page.locks.filter(isOurs).map(presentLfsLock),
        theirs: page.locks.filter((lock) => !isOurs(lock)).map(presentLfsLock),
        ...presentCursor(page.next),
      })
    },
  })

export const unlock = (deps: Dependencies) =>
  endpoint({
    input: z.object({ lock_id: rowId(), force: optional(flag()) }),
    async handle({ lock_id: id, force = false }, access: ProjectCall<Caller>) {
      return ok({ lock: presentLfsLock(await locks.unlockFile(deps, access, { id, force })) })
    },
  })
