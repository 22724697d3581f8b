import type { Database } from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import type { FindCaller } from '@switchyard/service-kit/http'
import type { Logger } from '@switchyard/service-kit/observability'
import { recordSessionUse } from '../sessions/store.js'
import { recordTokenUse } from './store.js'

const recordEveryMs = 60_000
const rememberedMax = 10_000

/**
 * Returns a `findCaller` that records when a token of a user or a project is used, directly or through a
 * session.
 */
export const recordingTokenUse = (database: Database, findCaller: FindCaller, logger: Logger): FindCaller =>
  recordingUse(findCaller, {
    idOf: ({ token }) => (token.deploy ? undefined : token.id),
    record: (id) => recordTokenUse(database, id),
    logger,
  })

/**
 * Returns a `findCaller` that records when a session is used. A session ends when it is not used for
 * `idleMs`.
 */
export const recordingSessionUse = (
  database: Database,
  findCaller: FindCaller,
  idleMs: number,
  logger: Logger,
): FindCaller =>
  recordingUse(findCaller, {
    idOf: ({ session }) => session?.id,
    record: (id) => recordSessionUse(database, id, idleMs),
    logger,
  })

interface Recording {
  /** Returns the id of the token or session that is used. Undefined: nothing is recorded. */
  idOf: (caller: Caller) => number | undefined
  record: (id: number) => Promise<void>
  logger: Logger
}

/**
 * Records each use, at most once a minute for each id. Requests do not wait for the record and do not fail
 * with it.
 */
function recordingUse(findCaller: FindCaller, { idOf, record, logger }: Recording): FindCaller {
  const recordedAtMs = new Map<number, number>()
  return async (hash) => {
    const caller = await findCaller(hash)
    const id = caller && idOf(caller)
    const nowMs = Date.now()
    if (id == null || nowMs - (recordedAtMs.get(id) ?? 0) < recordEveryMs) return caller
    if (recordedAtMs.size >= rememberedMax) recordedAtMs.clear()
    recordedAtMs.set(id, nowMs)
    record(id).catch((error: unknown) => {
      logger.warn({ err: error }, 'could not record the use of a token or a session')
    })
    return caller
  }
}
