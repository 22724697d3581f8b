import { z } from 'zod'
import { numberOf, objectOf } from './age.js'
import type { WorkerProcess } from './job-source.js'
import { createReadAhead } from './read-ahead.js'
import { ReadCommand } from './redis/read-command.js'
import type { RedisReader } from './redis/redis-reader.js'

/** Fields of a process hash that are read, in this order. Sidekiq's, and those of the heartbeat's registry. */
const processFields = ['info', 'busy', 'concurrency', 'beat', 'quiet', 'rss']

/** What every version of Sidekiq from 5 to 8, and our heartbeat, say about a process. */
const processInfo = z.object({
  hostname: z.string(),
  pid: z.int(),
  tag: z.string().nullish(),
  /** Epoch seconds, with fraction. */
  started_at: z.number(),
  queues: z.array(z.string()).optional(),
  labels: z.array(z.string()).nullish(),
  concurrency: z.int().optional(),
  /** Sidekiq from 8.0.9 on. */
  capsules: z
    .record(
      z.string(),
      z.object({ concurrency: z.int(), weights: z.record(z.string(), z.number()).optional() }),
    )
    .optional(),
})

type ProcessInfo = z.infer<typeof processInfo>

/**
 * Processes sorted by identity, without those whose hash has run out or cannot be understood: what was killed stays
 * among the members for a while, and is none.
 */
export type ProcessReader = (identities: Promise<string[]>) => Promise<WorkerProcess[]>

interface ProcessReading {
  question: ReadCommand
  /** What the process says about itself, and how that was understood. */
  text: string | null
  info: ProcessInfo | null
  process: WorkerProcess | null
}

/**
 * What a process says about itself mostly stays as it is while it lives, so the same text is understood once.
 *
 * @param keyOf the key of an identity's hash
 */
export function createProcessReader(redis: RedisReader, keyOf: (identity: string) => string): ProcessReader {
  const readAhead = createReadAhead<ProcessReading>()
  return async (identities) => {
    const readings = await readAhead(identities, async (ids, before) => {
      const questions = ids.map(
        (id, index) => before[index]?.question ?? new ReadCommand('hmget', keyOf(id), ...processFields),
      )
      const hashes = (await redis.read(questions)) as (string | null)[][]
      return questions.map((question, index) => ({
        question,
        ...understand(ids[index] ?? '', hashes[index] ?? [], before[index]),
      }))
    })
    const processes = readings.flatMap(({ process }) => (process ? [process] : []))
    return processes.sort(byIdentity)
  }
}

function understand(
  identity: string,
  [said = null, ...state]: (string | null)[],
  before: ProcessReading | undefined,
): Omit<ProcessReading, 'question'> {
  const { text, info } = before?.text === said ? before : { text: said, info: infoOf(said) }
  return { text, info, process: info && processOf(identity, info, state) }
}

function infoOf(text: string | null): ProcessInfo | null {
  const parsed = processInfo.safeParse(objectOf(text))
  return parsed.success ? parsed.data : null
}

function processOf(identity: string, info: ProcessInfo, state: (string | null)[]): WorkerProcess {
  const { hostname, pid, tag, started_at: startedAtSeconds, labels, capsules } = info
  const [busy, concurrency, beat, quiet, rss] = state
  const beatSeconds = numberOf(beat)
  return {
    identity,
    hostname,
    pid,
    tag: tag ?? '',
    startedAt: new Date(startedAtSeconds * 1000),
    queues: capsules ? queuesOf(capsules) : (info.queues ?? []),
    labels: labels ?? [],
    concurrency: numberOf(concurrency) ?? info.concurrency ?? concurrencyOf(capsules ?? {}),
    busy: numberOf(busy) ?? 0,
    quiet: quiet === 'true',
    beatMs: beatSeconds === null ? null : beatSeconds * 1000,
    rssKib: numberOf(rss),
  }
}

type Capsules = NonNullable<ProcessInfo['capsules']>

const queuesOf = (capsules: Capsules) => [
  ...new Set(Object.values(capsules).flatMap(({ weights }) => Object.keys(weights ?? {}))),
]

const concurrencyOf = (capsules: Capsules) =>
  Object.values(capsules).reduce((sum, { concurrency }) => sum + concurrency, 0)

export const byIdentity = (a: WorkerProcess, b: WorkerProcess) => (a.identity < b.identity ? -1 : 1)
