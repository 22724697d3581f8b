import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { redisTimeMs } from '@switchyard/jobs-heartbeat/registry'
import { type Cluster, type Redis, ReplyError } from 'ioredis'

/** The commands that a snapshot sends to a source. None of them writes or searches through keys. */
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

/** A reader of a Redis server or a Redis Cluster. */
export interface RedisReader {
  /**
   * Answers in the order of the commands.
   *
   * @throws Error of the first command that failed, because incomplete metrics would be wrong
   */
  read(commands: readonly ReadCommand[]): Promise<unknown[]>
  /**
   * Returns how many ms the source's clock is ahead of the clock of this process; 0 when the source does not
   * show its time, or when both agree within a second, because an answer may take that long.
   */
  clockAheadMs(): Promise<number>
  /**
   * Returns the server, or every master of a cluster.
   *
   * @throws Error while the nodes of a cluster are unknown
   */
  servers(): Redis[]
  close(): void
}

/** Commands in a pipeline. Writing more of them at once would delay other requests for too long. */
const pipelineLength = 250
/**
 * Concurrent pipelines. More would be faster with a distant Redis, but their answers would be read in one
 * long turn of the event loop.
 */
const pipelinesUnderWay = 3

/** Difference up to which clocks count as equal. */
const answerMs = 1000

export const createServerReader = (redis: Redis): RedisReader => ({
  read: (commands) => inChunks(commands, (chunk) => sendPipeline(redis, chunk)),
  clockAheadMs: () => clockAheadMs(redis),
  servers: () => [redis],
  close: () => redis.disconnect(),
})

/** @param cluster a client with automatic pipelining, which gathers commands into one pipeline per node */
export const createClusterReader = (cluster: Cluster): RedisReader => ({
  clockAheadMs: () => clockAheadMs(cluster),
  read: (commands) =>
    inChunks(commands, (chunk) => Promise.all(chunk.map((command) => sendToCluster(cluster, command)))),
  servers() {
    // Before that, the list contains only some of the nodes.
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
 * Sends the chunks one after the other, while the answers of a few earlier ones are outstanding. Sending a
 * chunk and reading its answers are one turn of the event loop each, so that other requests run in between.
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
    // The failure is reported where the chunk is awaited. Before that, Node would treat it as an unhandled
    // rejection.
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
