import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { redisTimeMs } from '@switchyard/jobs-heartbeat/registry'
import { type Cluster, type Redis, ReplyError } from 'ioredis'

/** Every command that a snapshot sends to a source. None of them writes, and none searches through keys. */
type ReadName =
  | 'get'
  | 'hget'
  | 'hgetall'
  | 'hmget'
  | 'lindex'
  | 'llen'
  | 'lrange'
  | 'smembers'
  | 'zcard'
  | 'zcount'
  | 'zrange'
  | 'zrangebyscore'

export type ReadCommand = readonly [name: ReadName, key: string, ...rest: (string | number)[]]

/** Reads a Redis server or a Redis Cluster. */
export interface RedisReader {
  /**
   * Answers in the order of the commands.
   *
   * @throws Error of the first command that failed: metrics with holes would be wrong metrics
   */
  read(commands: readonly ReadCommand[]): Promise<unknown[]>
  /**
   * How far the clock of the source is ahead of that of this process, ms; 0 where it does not show its time,
   * and while both agree within a second, which an answer may take.
   */
  clockAheadMs(): Promise<number>
  /**
   * The server, or every master of a cluster.
   *
   * @throws Error while the nodes of a cluster are not known
   */
  servers(): Redis[]
  close(): void
}

/** Commands of one pipeline. Writing more of them at once would hold up other requests for too long. */
const pipelineLength = 250
/**
 * More pipelines at once would be faster on a distant Redis, but their answers would be read in one long turn
 * of the event loop.
 */
const pipelinesUnderWay = 3

/** Clocks that differ by less are taken for the same. */
const answerMs = 1000

export const createServerReader = (redis: Redis): RedisReader => ({
  read: (commands) => inChunks(commands, (chunk) => sendPipeline(redis, chunk)),
  clockAheadMs: () => clockAheadMs(redis),
  servers: () => [redis],
  close: () => redis.disconnect(),
})

/** @param cluster with automatic pipelining, which gathers commands into one pipeline a node */
export const createClusterReader = (cluster: Cluster): RedisReader => ({
  clockAheadMs: () => clockAheadMs(cluster),
  read: (commands) =>
    inChunks(commands, (chunk) => Promise.all(chunk.map((command) => sendToCluster(cluster, command)))),
  servers() {
    // Before that, the list holds only some of the nodes.
    if (cluster.status !== 'ready') throw new Error('the nodes of the cluster are not known yet')
    return cluster.nodes('master')
  },
  close: () => cluster.disconnect(),
})

async function clockAheadMs(redis: Redis | Cluster): Promise<number> {
  const info = await redis.info('server').catch((error: unknown) => {
    if (error instanceof ReplyError) return ''
    throw error
  })
  const nowMs = Date.now()
  const aheadMs = (redisTimeMs(info) ?? nowMs) - nowMs
  return Math.abs(aheadMs) < answerMs ? 0 : aheadMs
}

/**
 * Sends the chunks one after the other, while the answers of a few earlier ones are still to come. Each chunk
 * is one turn of the event loop, and so is the reading of its answers: other requests have their turn in
 * between.
 */
async function inChunks(
  commands: readonly ReadCommand[],
  send: (chunk: readonly ReadCommand[]) => Promise<unknown[]>,
): Promise<unknown[]> {
  const answers: Promise<unknown[]>[] = []
  for (let start = 0; start < commands.length; start += pipelineLength) {
    if (answers.length >= pipelinesUnderWay) await answers.at(-pipelinesUnderWay)
    await yieldToEventLoop()
    const chunk = send(commands.slice(start, start + pipelineLength))
    // The failure is reported where the chunk is awaited. Node would take it for an unhandled rejection
    // before that.
    chunk.catch(() => {})
    answers.push(chunk)
  }
  return (await Promise.all(answers)).flat(1)
}

async function sendPipeline(redis: Redis, commands: readonly ReadCommand[]): Promise<unknown[]> {
  const results = await redis.pipeline(commands.map((command) => [...command])).exec()
  return (results ?? []).map(([error, answer]) => {
    if (error) throw error
    return answer
  })
}

/** ioredis pipelines the methods of a command automatically, but not `call`. */
function sendToCluster(cluster: Cluster, [name, ...args]: ReadCommand): Promise<unknown> {
  const method = cluster[name] as unknown as (...args: (string | number)[]) => Promise<unknown>
  return method.apply(cluster, args)
}
