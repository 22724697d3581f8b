import { registryKeys } from '@switchyard/jobs-heartbeat/registry'
import type { Redis } from 'ioredis'

type Command = [string, ...(string | number)[]]

const send = async (redis: Redis, commands: Command[]) => {
  const results = (await redis.pipeline(commands).exec()) ?? []
  return results.map(([, answer]) => answer)
}

const processFields = ['info', 'busy', 'concurrency', 'beat', 'quiet', 'rss']

/** Runs the baseline: reads the same keys in two plain pipelines, without processing the answers. */
export async function bareSidekiq(redis: Redis): Promise<number> {
  const [names, ids] = (await send(redis, [
    ['smembers', 'queues'],
    ['smembers', 'processes'],
    ['smembers', 'paused'],
    ['get', 'stat:processed'],
    ['get', 'stat:failed'],
    ['zcard', 'schedule'],
    ['zcard', 'retry'],
    ['zcard', 'dead'],
  ])) as [string[], string[]]
  const answers = await send(redis, [
    ...names.flatMap((name): Command[] => [
      ['llen', `queue:${name}`],
      ['lindex', `queue:${name}`, -1],
    ]),
    ...ids.map((id): Command => ['hmget', id, ...processFields]),
  ])
  return answers.length
}

/** Runs the baseline: two pipelines, because the queues are known. Otherwise, three are needed. */
export async function bareBullmq(redis: Redis, names: string[], ids: string[]): Promise<number> {
  const keys = registryKeys('bull')
  const overdue = (Date.now() + 1) * 4096 - 1
  const counts = await send(redis, [
    ...names.flatMap((name): Command[] => [
      ['llen', `bull:${name}:wait`],
      ['llen', `bull:${name}:paused`],
      ['zcard', `bull:${name}:prioritized`],
      ['zcount', `bull:${name}:delayed`, '-inf', overdue],
      ['zcard', `bull:${name}:delayed`],
      ['llen', `bull:${name}:active`],
      ['zcard', `bull:${name}:failed`],
      ['zcard', `bull:${name}:completed`],
      ['hget', `bull:${name}:meta`, 'paused'],
      ['hget', `bull:${name}:metrics:completed`, 'count'],
      ['hget', `bull:${name}:metrics:failed`, 'count'],
      ['lrange', `bull:${name}:wait`, -5, -1],
    ]),
    ...ids.map((id): Command => ['hmget', keys.process(id), ...processFields]),
  ])
  const tails = names.flatMap((name, index) =>
    (counts[index * 12 + 11] as string[]).map((id) => `bull:${name}:${id}`),
  )
  const jobs = await send(
    redis,
    tails.map((key): Command => ['hmget', key, 'timestamp', 'processedOn', 'opts']),
  )
  return counts.length + jobs.length
}
