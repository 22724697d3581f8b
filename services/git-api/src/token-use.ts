import { type Database, recordTokenUse } from '@switchyard/db'
import type { FindCaller } from '@switchyard/service-kit/http'
import type { Logger } from '@switchyard/service-kit/observability'

const recordEveryMs = 60_000
const rememberedMax = 10_000

/**
 * Records when a token of a user or a project is used, at most once a minute for each token. No request waits for the record or fails with it.
 */
export function recordingTokenUse(database: Database, findCaller: FindCaller, logger: Logger): FindCaller {
  const recordedAtMs = new Map<number, number>()
  return async (hash) => {
    const caller = await findCaller(hash)
    if (!caller || caller.token.deploy) return caller
    const { id } = caller.token
    const nowMs = Date.now()
    if (nowMs - (recordedAtMs.get(id) ?? 0) < recordEveryMs) return caller
    if (recordedAtMs.size >= rememberedMax) recordedAtMs.clear()
    recordedAtMs.set(id, nowMs)
    recordTokenUse(database, id).catch((error: unknown) => {
      logger.warn({ err: error }, 'could not note the use of a token')
    })
    return caller
  }
}
