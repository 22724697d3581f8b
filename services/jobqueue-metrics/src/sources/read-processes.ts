import { processTtlSeconds } from '@switchyard/jobs-heartbeat/registry'
import { z } from 'zod'
import type { ReadCommand, RedisReader } from './redis/redis-reader.js'
import type { WorkerProcess } from './sources.js'
import { numberOf, objectOf } from './values.js'

/** Time on the clock of a source. */
interface SourceClock {
  /** The current time in epoch ms. */
  nowMs: number
  /** Lead over the clock of this process. */
  aheadMs: number
}

/** Lifetime of a hash after a beat, both of Sidekiq and of the heartbeat. */
const hashMs = processTtlSeconds * 1000
const inexactMs = 5000

/**
 * Fields of a process hash that are read, in this order. Sidekiq and the heartbeat's registry use the same
 * names.
 */
const processFields = ['info', 'busy', 'concurrency', 'beat', 'quiet', 'rss']

/** Number of processes whose JSON is parsed in one turn of the event loop. */
const parsedAtOnce = 100

/** The field `info`, as Sidekiq 5 to 8 and the heartbeat write it. */
const processInfo = z.object({
  hostname: z.string(),
  pid: z.int(),
  tag: z.string().nullish(),
  /** Epoch seconds, with a fraction. */
  started_at: z.number(),
  queues: z.array(z.string()).optional(),
  labels: z.array(z.string()).nullish(),
  concurrency: z.int().optional(),
  /** Capsules, which Sidekiq has since 8.0.9. */
  capsules: z
    .record(
      z.string(),
      z.object({ concurrency: z.int(), weights: z.record(z.string(), z.number()).optional() }),
    )
    .optional(),
})

/**
 * Reads processes sorted by identity. A process whose hash has expired or cannot be parsed is left out,
 * because a killed process stays in the set of identities for a while.
 *
 * @param keyOf returns the key of the hash of an identity
 * @param clock the clock of the source
 */
export async function readProcesses(
  redis: RedisReader,
  identities: readonly string[],
  keyOf: (identity: string) => string,
  clock: SourceClock,
): Promise<WorkerProcess[]> {
  const processes: WorkerProcess[] = []
  for (let start = 0; start < identities.length; start += parsedAtOnce) {
    const some = identities.slice(start, start + parsedAtOnce)
    const commands = some.map((id): ReadCommand => ['hmget', keyOf(id), ...processFields])
    const hashes = (await redis.read(commands)) as (string | null)[][]
    processes.push(...some.flatMap((id, index) => processOf(id, hashes[index] ?? [], clock) ?? []))
  }
  return processes.sort(byIdentity)
}

function processOf(
  identity: string,
  [text = null, busy, concurrency, beat, quiet, rss]: (string | null)[],
  clock: SourceClock,
): WorkerProcess | null {
  const info = processInfo.safeParse(objectOf(text)).data
  if (!info) return null
  const { hostname, pid, tag, labels, capsules } = info
  return {
    identity,
    hostname,
    pid,
    tag: tag ?? '',
    startedAt: new Date(info.started_at * 1000),
    queues: capsules ? queuesOf(capsules) : (info.queues ?? []),
    labels: labels ?? [],
    concurrency: numberOf(concurrency) ?? info.concurrency ?? concurrencyOf(capsules ?? {}),
    busy: numberOf(busy) ?? 0,
    quiet: quiet === 'true',
    beatMs: beatMsOf(numberOf(beat), clock),
    rssKib: numberOf(rss),
  }
}

/**
 * Returns the time of a beat. Redis itself expires a hash a minute after its last beat. An older or a future
 * beat was written by a wrong clock, so its time is unknown.
 */
function beatMsOf(beatSeconds: number | null, { nowMs, aheadMs }: SourceClock): number | null {
  if (beatSeconds === null) return null
  const ageMs = nowMs - beatSeconds * 1000
  return Math.abs(ageMs) > hashMs + inexactMs ? null : beatSeconds * 1000 - aheadMs
}

type Capsules = NonNullable<z.infer<typeof processInfo>['capsules']>

const queuesOf = (capsules: Capsules) => [
  ...new Set(Object.values(capsules).flatMap(({ weights }) => Object.keys(weights ?? {}))),
]

const concurrencyOf = (capsules: Capsules) =>
  Object.values(capsules).reduce((sum, { concurrency }) => sum + concurrency, 0)

export const byIdentity = (a: WorkerProcess, b: WorkerProcess) => (a.identity < b.identity ? -1 : 1)
