import { copyActivity } from '@switchyard/domain/saga'
import type { BatchChanges } from './batch-parameters.js'
import type { StateCache } from './state-cache.js'

const stored = Buffer.alloc(0)

/** Brings what is known up to what a committed batch has written. */
export function keepChanges(cache: StateCache, { sagas, activities }: BatchChanges): void {
  for (const { entry, row } of activities) {
    const before = entry.version
    const wasInSaga = entry.activity?.sagaId != null
    entry.version = before + 1
    // Of the parameter it matters alone that there is one. The result is copied off the buffer it was received in, and
    // not into one that it shares with what comes and goes: that would stay as long as the result.
    const kept = copyActivity(row)
    kept.parameterData = row.parameterData && stored
    if (row.resultData && row.resultData !== entry.activity?.resultData) {
      kept.resultData = new Uint8Array(row.resultData)
    }
    entry.activity = kept
    if (row.sagaId !== null) {
      const saga = cache.findSaga(entry.tenant, row.sagaId)
      if (saga) saga.factsSum += wasInSaga ? 1 : before + 1
    }
    cache.keepActivity(entry)
  }
  for (const { entry, row } of sagas) {
    entry.version += 1
    entry.saga = row
    cache.keepSaga(entry)
  }
}
