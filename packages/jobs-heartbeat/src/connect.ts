/** What is used of a BullMQ worker, version 5 or 6. */
export interface BullmqWorker {
  /** Name of its queue. */
  name: string
  opts: { prefix?: string }
  /** Jobs it runs at once. */
  concurrency: number
  on(event: 'closing', listener: () => void): unknown
  on(event: 'closed', listener: () => void): unknown
  /** The connection of a worker of version 5. */
  client?: Promise<unknown>
  /** The owner of the connection of a worker of version 6. */
  getBackend?(): { client?: Promise<unknown> }
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

/**
 * A connection of the heartbeat's own, made like the worker's. The worker's own would be closed before the last counts
 * are sent.
 *
 * @throws Error when the worker does not use ioredis
 */
export async function connectLike(worker: BullmqWorker): Promise<RedisConnection> {
  const client = (await (worker.client ?? worker.getBackend?.().client)) as
    | Partial<RedisConnection>
    | undefined
  if (typeof client?.duplicate !== 'function' || typeof client.multi !== 'function')
    throw new Error('the worker does not use ioredis: pass an ioredis connection as the option `redis`')
  return client.duplicate({ enableOfflineQueue: false, maxRetriesPerRequest: 0, connectionName: undefined })
}
