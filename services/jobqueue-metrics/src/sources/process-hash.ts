import { z } from 'zod'
import { numberOf, objectOf } from './age.js'
import type { WorkerProcess } from './job-source.js'

/** Fields of a process hash that are read, in this order. Sidekiq's, and those of the heartbeat's registry. */
export const processFields = ['info', 'busy', 'concurrency', 'beat', 'quiet', 'rss']

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

/**
 * A worker process of its hash. Null for one whose hash has run out or cannot be understood: what was killed
 * stays among the members for a while, and is none.
 *
 * @param values of {@link processFields}
 */
export function processOf(identity: string, values: readonly (string | null)[]): WorkerProcess | null {
  const [info = null, busy, concurrency, beat, quiet, rss] = values
  const parsed = processInfo.safeParse(objectOf(info))
  if (!parsed.success) return null
  const { hostname, pid, tag, started_at: startedAtSeconds, labels, capsules } = parsed.data
  const beatSeconds = numberOf(beat)
  return {
    identity,
    hostname,
    pid,
    tag: tag ?? '',
    startedAt: new Date(startedAtSeconds * 1000),
    queues: capsules ? queuesOf(capsules) : (parsed.data.queues ?? []),
    labels: labels ?? [],
    concurrency: numberOf(concurrency) ?? parsed.data.concurrency ?? concurrencyOf(capsules ?? {}),
    busy: numberOf(busy) ?? 0,
    quiet: quiet === 'true',
    beatMs: beatSeconds === null ? null : beatSeconds * 1000,
    rssKib: numberOf(rss),
  }
}

type Capsules = NonNullable<z.infer<typeof processInfo>['capsules']>

const queuesOf = (capsules: Capsules) => [
  ...new Set(Object.values(capsules).flatMap(({ weights }) => Object.keys(weights ?? {}))),
]

const concurrencyOf = (capsules: Capsules) =>
  Object.values(capsules).reduce((sum, { concurrency }) => sum + concurrency, 0)

export const byIdentity = (a: WorkerProcess, b: WorkerProcess) => (a.identity < b.identity ? -1 : 1)
