import { createHash } from 'node:crypto'
import { z } from 'zod'
import { numberOf, objectOf } from './age.js'
import type { WorkerProcess } from './job-source.js'
import { createReadAhead } from './read-ahead.js'
import type { ReadScript, RedisReader } from './redis/redis-reader.js'

/** Fields of a process hash that are read, in this order. Sidekiq's, and those of the heartbeat's registry. */
export const processFields = ['info', 'busy', 'concurrency', 'beat', 'quiet', 'rss']

/** The fields of each hash as lines of one text, which a client reads faster than many answers: JSON has no line breaks. */
const lua = `
local texts = {}
for index, key in ipairs(KEYS) do
  local values = redis.call('HMGET', key, unpack(ARGV))
  for field = 1, #ARGV do values[field] = values[field] or '' end
  texts[index] = table.concat(values, '\\n')
end
return texts
`

const script: ReadScript = { lua, sha: createHash('sha1').update(lua).digest('hex'), keysMax: 50 }

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

/**
 * What a process says about itself stays as it is while it lives, so each text is understood once.
 *
 * @param keyOf the key of an identity's hash
 */
export function createProcessReader(redis: RedisReader, keyOf: (identity: string) => string): ProcessReader {
  let understood = new Map<string, ProcessInfo | null>()
  const readAhead = createReadAhead()
  return async (identities) => {
    const current: typeof understood = new Map()
    const understand = (identity = '', [text, ...state]: (string | null)[]): WorkerProcess | null => {
      if (!text) return null
      const known = understood.get(text)
      const info = known === undefined ? infoOf(text) : known
      current.set(text, info)
      return info && processOf(identity, info, state)
    }
    const processes = await readAhead(identities, (ids) => readHashes(redis, ids, keyOf, understand))
    understood = current
    return processes.filter((process) => process !== null).sort(byIdentity)
  }
}

async function readHashes<Answer>(
  redis: RedisReader,
  identities: string[],
  keyOf: (identity: string) => string,
  understand: (identity: string | undefined, fields: (string | null)[]) => Answer,
): Promise<Answer[]> {
  const keys = identities.map(keyOf)
  const read = await redis.readByScript(script, keys, processFields, (text, index) =>
    understand(identities[index], String(text).split('\n')),
  )
  if (read) return read
  const hashes = await redis.read(keys.map((key) => ['hmget', key, ...processFields]))
  return hashes.map((fields, index) => understand(identities[index], fields as (string | null)[]))
}

function infoOf(text: string): ProcessInfo | null {
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
