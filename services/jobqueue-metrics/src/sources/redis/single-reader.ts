import { setImmediate as yieldToOthers } from 'node:timers/promises'
import type { ChainableCommander, Redis } from 'ioredis'
import { askAlike, gatherAlike } from './ask-alike.js'
import type { ReadCommand, ReadScript, RedisReader } from './redis-reader.js'
import { scanHashesOf } from './scan-hashes.js'

/** Commands written down without a pause; more would hold up other requests. */
const chunkLength = 1000
/** Of runs of scripts fewer, so that the server works on the first of them while the next are written down. */
const runsInChunk = 2

type Arguments = readonly (string | number)[]

/** Reads one server, found directly or by Sentinel, with explicit pipelines. */
export function createSingleReader(redis: Redis): RedisReader {
  let scriptsRefused = false
  // After a reconnection it may be another server, or another user's rights.
  redis.on('ready', () => {
    scriptsRefused = false
  })

  /** Null where this server or this user runs no scripts. */
  async function unlessRefused<Answer>(read: () => Promise<Answer[]>): Promise<Answer[] | null> {
    if (scriptsRefused) return null
    try {
      return await read()
    } catch (error) {
      if (!isRefusal(error)) throw error
      scriptsRefused = true
      return null
    }
  }

  return {
    read: async (commands) =>
      (await unlessRefused(() => readAlike(redis, commands))) ?? (await inChunks(redis, commands)),
    readByScript: (script, keys, args, understand) =>
      unlessRefused(() => runInParts(redis, script, keys, args, understand)),
    async clientList() {
      return String(await redis.client('LIST')).split('\n')
    },
    scanHashes: (pattern) => scanHashesOf(redis, pattern),
    close: () => redis.disconnect(),
  }
}

/** A run of a script. The server knows it from its first run on, the others name it only. */
const run = ({ lua, sha }: ReadScript, isFirst: boolean, keysAndArguments: Arguments): Arguments =>
  isFirst ? ['EVAL_RO', lua, ...keysAndArguments] : ['EVALSHA_RO', sha, ...keysAndArguments]

async function runInParts<Answer>(
  redis: Redis,
  script: ReadScript,
  keys: readonly string[],
  args: Arguments,
  understand: (answer: unknown, index: number) => Answer,
): Promise<Answer[]> {
  const requests: Arguments[] = []
  for (let start = 0; start < keys.length; start += script.keysMax) {
    const part = keys.slice(start, start + script.keysMax)
    requests.push(run(script, start === 0, [part.length, ...part, ...args]))
  }
  const understandAll = (answers: unknown, request: number) =>
    (answers as unknown[]).map((answer, index) => understand(answer, request * script.keysMax + index))
  return (await inChunks(redis, requests, runsInChunk, understandAll)).flat(1)
}

async function readAlike(redis: Redis, commands: readonly ReadCommand[]): Promise<unknown[]> {
  const parts = gatherAlike(commands)
  let isFirst = true
  const requests = parts.map(({ keys, question: [name = '', ...rest] }) => {
    if (keys.length === 1) return [name, ...keys, ...rest]
    const request = run(askAlike, isFirst, [keys.length, ...keys, name, ...rest])
    isFirst = false
    return request
  })
  const replies = await inChunks(redis, requests, runsInChunk)
  const answers: unknown[] = new Array(commands.length)
  parts.forEach(({ places }, index) => {
    const several = places.length === 1 ? [replies[index]] : (replies[index] as unknown[])
    places.forEach((place, position) => {
      answers[place] = several[position]
    })
  })
  return answers
}

/** Pipelines follow each other without waiting for answers, so all of them are one round trip. */
async function inChunks<Answer = unknown>(
  redis: Redis,
  requests: readonly Arguments[],
  length = chunkLength,
  understand = (answer: unknown, _request: number) => answer as Answer,
): Promise<Answer[]> {
  const answers: Promise<Answer[]>[] = []
  for (let start = 0; start < requests.length; start += length) {
    if (start > 0) await yieldToOthers()
    const pipeline = redis.pipeline()
    for (const [name, ...rest] of requests.slice(start, start + length)) pipeline.call(String(name), ...rest)
    const chunk = answersOf(pipeline, (answer, index) => understand(answer, start + index))
    // Whoever awaits them below learns of it; until then a failure is nobody's.
    chunk.catch(() => {})
    answers.push(chunk)
  }
  return (await Promise.all(answers)).flat()
}

async function answersOf<Answer>(
  pipeline: ChainableCommander,
  understand: (answer: unknown, index: number) => Answer,
): Promise<Answer[]> {
  const results = (await pipeline.exec()) ?? []
  return results.map(([error, answer], index) => {
    if (error) throw error
    return understand(answer, index)
  })
}

/** The user may not, the server is older than these commands, or wants every key to be named before. */
const isRefusal = (error: unknown) =>
  error instanceof Error &&
  /^NOPERM|can't run this command|unknown command|^ERR unknown|undeclared key/i.test(error.message)
