import type { JobCounts, Outcome } from './job-counts.js'

/** What is used of a BullMQ worker, version 5 or 6. */
export interface BullmqWorker {
  /** Name of its queue. */
  name: string
  opts: { prefix?: string }
  /** Jobs it runs at once. */
  concurrency: number
  close(force?: boolean): Promise<void>
  on(event: 'closing', listener: () => void): unknown
  on(event: 'closed', listener: () => void): unknown
}

/** What is used of ioredis, so that the version that BullMQ brings along is the one that is used. */
export interface RedisConnection {
  status: string
  multi(): Transaction
  duplicate(options?: object): RedisConnection
  disconnect(): void
  on(event: string, listener: (...args: never[]) => void): unknown
  off(event: string, listener: (...args: never[]) => void): unknown
}

export interface Transaction {
  zadd(key: string, score: number, member: string): Transaction
  zrem(key: string, member: string): Transaction
  zremrangebyscore(key: string, min: string | number, max: string | number): Transaction
  hset(key: string, fields: Record<string, string>): Transaction
  hincrby(key: string, field: string, by: number): Transaction
  incrby(key: string, by: number): Transaction
  expire(key: string, seconds: number): Transaction
  sadd(key: string, ...members: string[]): Transaction
  del(key: string): Transaction
  exec(): Promise<[error: Error | null, answer: unknown][] | null>
}

type Processor = (...args: unknown[]) => Promise<unknown>

/**
 * Counts the attempts of a worker around its processor, whatever becomes of them. BullMQ's events would not do:
 * some attempts end without one.
 *
 * @throws Error when this is no worker with a processor
 */
export function countJobs(worker: BullmqWorker, counts: JobCounts): void {
  const inner = worker as unknown as { processFn?: Processor }
  const process = inner.processFn
  if (typeof process !== 'function')
    throw new Error(`the worker of the queue ${worker.name} has no processor that could be counted`)
  inner.processFn = async (...args) => {
    let outcome: Outcome = 'failed'
    counts.start()
    try {
      const result = await process(...args)
      outcome = 'done'
      return result
    } catch (error) {
      if (isReturned(error)) outcome = 'returned'
      throw error
    } finally {
      counts.end(worker.name, outcome)
    }
  }
}

/** Bundlers number classes whose names clash, or shorten all names; then the text that BullMQ gives them is left. */
const returnedName = /^(Delayed|Waiting|WaitingChildren)Error\d*$/
const returnedText = /^bullmq:(movedTo(Delayed|Wait|WaitingChildren)|rateLimitExceeded)$/

/** Errors by which a processor tells BullMQ that it has put its job back. */
const isReturned = (error: unknown) =>
  error instanceof Error && (returnedName.test(error.name) || returnedText.test(error.message))

/**
 * A connection of the heartbeat's own, made like the worker's. The worker's would be closed before the last
 * counts are out.
 *
 * @throws Error when the worker does not use ioredis
 */
export async function connectLike(worker: BullmqWorker): Promise<RedisConnection> {
  const client = await clientOf(worker)
  if (typeof client?.duplicate !== 'function' || typeof client.multi !== 'function')
    throw new Error('the worker does not use ioredis: pass an ioredis connection as the option `redis`')
  return client.duplicate({ enableOfflineQueue: false, maxRetriesPerRequest: 0, connectionName: undefined })
}

/** Version 5 has the client on the worker, version 6 on its backend. */
async function clientOf(worker: BullmqWorker): Promise<RedisConnection | undefined> {
  const holder = worker as unknown as {
    client?: Promise<RedisConnection>
    backend?: { client?: Promise<RedisConnection> }
  }
  return await (holder.client ?? holder.backend?.client)
}
