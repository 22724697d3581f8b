import { processInfo, registryKeys } from '@switchyard/contracts/jobs'
import type { Redis } from 'ioredis'
import type { WorkerProcess } from '../job-source.js'
import { answersOf } from './pipeline.js'

/**
 * Reads worker processes, sorted by identity. One whose hash has run out or cannot be understood is none:
 * a killed process stays in the registry's set for a while.
 */
export async function readProcesses(redis: Redis, ids: string[]): Promise<WorkerProcess[]> {
  const pipeline = redis.pipeline()
  for (const id of ids) pipeline.hmget(registryKeys.process(id), 'info', 'busy', 'concurrency')
  const hashes = (await answersOf(pipeline)) as (string | null)[][]
  return hashes
    .flatMap(([info = null, busy = null, concurrency = null]) => processOf(info, busy, concurrency))
    .sort((a, b) => (a.identity < b.identity ? -1 : 1))
}

function processOf(info: string | null, busy: string | null, concurrency: string | null): WorkerProcess[] {
  const parsed = processInfo.safeParse(jsonOf(info))
  if (!parsed.success) return []
  const { started_at: startedAtSeconds, ...constant } = parsed.data
  return [
    {
      ...constant,
      startedAt: new Date(startedAtSeconds * 1000),
      concurrency: Number(concurrency ?? constant.concurrency),
      busy: Number(busy ?? 0),
    },
  ]
}

function jsonOf(text: string | null): unknown {
  try {
    return text === null ? null : JSON.parse(text)
  } catch {
    return null
  }
}
