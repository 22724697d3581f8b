import {
  type HistorySample,
  queueHistoryKeys as keys,
  packSample,
  unpackSample,
} from '@switchyard/contracts/jobs'
import type { Redis } from 'ioredis'
import { coarseRows, fineRows, type Resolution } from './history.js'

const rows: Record<Resolution, number> = { 10: fineRows, 60: coarseRows }
const keptSeconds = 25 * 3600
/** Samples in memory at once while the history is loaded. */
const loadedAtOnce = 10

/** The samples in Switchyard's own Redis, from which a restart loads them. */
interface HistoryStore {
  /** Stores a sample. Of several replicas that sample at the same time, only one stores its sample. */
  save(sample: HistorySample, resolutions: Resolution[]): Promise<void>
  /** Yields samples, the latest first. When a sample is saved meanwhile, others may be yielded twice. */
  load(resolution: Resolution): AsyncIterable<HistorySample>
}

/** @param tickMs time between two samples */
export function createHistoryStore(redis: Redis, tickMs: number): HistoryStore {
  return {
    async save(sample, resolutions) {
      const tick = `{jq}:history:tick:${Math.floor(sample.atMs / tickMs)}`
      if ((await redis.set(tick, '1', 'EX', 60, 'NX')) === null) return
      const packed = await packSample(sample)
      const multi = redis.multi()
      for (const resolution of resolutions) {
        multi.lpush(keys[resolution], packed).ltrim(keys[resolution], 0, rows[resolution] - 1)
        multi.expire(keys[resolution], keptSeconds)
      }
      const failure = (await multi.exec())?.find(([error]) => error)?.[0]
      if (failure) throw failure
    },
    async *load(resolution) {
      for (let start = 0; start < rows[resolution]; start += loadedAtOnce) {
        const packed = await redis.lrangeBuffer(keys[resolution], start, start + loadedAtOnce - 1)
        if (packed.length === 0) return
        for (const each of packed) yield unpackSample(each)
      }
    },
  }
}
