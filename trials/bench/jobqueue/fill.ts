import { registryKeys } from '@switchyard/jobs-heartbeat/registry'
import type { Redis } from 'ioredis'

export interface Size {
  queues: number
  jobsPerQueue: number
  processes: number
}

const queueNames = ({ queues }: Size) => Array.from({ length: queues }, (_each, index) => `queue-${index}`)

/** One call fills one queue, so that Redis can answer others between the calls. */
const sidekiqQueue = `
local job = '{"retry":true,"queue":"' .. ARGV[1] .. '","args":[123,"some text"],"class":"HardWorker","jid":"b4a577edbccf1d805744efa9","created_at":' .. ARGV[3] .. ',"enqueued_at":' .. ARGV[3] .. '}'
for i = 1, tonumber(ARGV[2]) do redis.call('RPUSH', KEYS[1], job) end`

const bullmqQueue = `
for i = 1, tonumber(ARGV[1]) do
  redis.call('HSET', KEYS[1] .. i, 'name', 'send', 'data', '{"to":"somebody","n":' .. i .. '}', 'opts', '{"attempts":3}',
    'timestamp', ARGV[2], 'delay', '0', 'priority', '0')
  redis.call('LPUSH', KEYS[1] .. 'wait', i)
end
redis.call('HSET', KEYS[1] .. 'meta', 'opts.maxLenEvents', '10000', 'version', 'bullmq:6.7.0')`

function processHashes(size: Size) {
  const names = queueNames(size)
  return Array.from({ length: size.processes }, (_each, index) => {
    const identity = `host-${index}:${1000 + index}:0123456789ab`
    const info = {
      hostname: `host-${index}`,
      pid: 1000 + index,
      tag: 'bench',
      started_at: Date.now() / 1000,
      queues: Array.from({ length: 20 }, (_queue, offset) => names[(index * 20 + offset) % names.length]),
      labels: [],
      concurrency: 10,
      identity,
    }
    const beat = String(Date.now() / 1000)
    const hash = {
      info: JSON.stringify(info),
      concurrency: '10',
      busy: '3',
      beat,
      quiet: 'false',
      rss: '100000',
    }
    return { identity, hash }
  })
}

export async function fillSidekiq(redis: Redis, size: Size): Promise<void> {
  await redis.flushall()
  const names = queueNames(size)
  await redis.sadd('queues', ...names)
  const enqueuedAt = String(Date.now() / 1000 - 60)
  for (const name of names)
    await redis.eval(sidekiqQueue, 1, `queue:${name}`, name, size.jobsPerQueue, enqueuedAt)
  for (const { identity, hash } of processHashes(size)) {
    await redis.sadd('processes', identity)
    await redis.hset(identity, hash)
  }
  await redis.mset('stat:processed', 1_000_000, 'stat:failed', 1000)
}

export async function fillBullmq(redis: Redis, size: Size): Promise<void> {
  await redis.flushall()
  const keys = registryKeys('bull')
  const names = queueNames(size)
  await redis.sadd(keys.queues, ...names)
  const timestamp = String(Date.now() - 60_000)
  for (const name of names) await redis.eval(bullmqQueue, 1, `bull:${name}:`, size.jobsPerQueue, timestamp)
  for (const { identity, hash } of processHashes(size)) {
    await redis.zadd(keys.processes, Date.now() + 3_600_000, identity)
    await redis.hset(keys.process(identity), hash)
  }
}
