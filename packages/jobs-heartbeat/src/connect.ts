/** The used part of a BullMQ worker, version 5 or 6. */
export interface BullmqWorker {
  /** Name of the queue. */
  name: string
  opts: { prefix?: string }
  /** Most simultaneous jobs. */
  concurrency: number
  on(event: 'closing', listener: () => void): unknown
  on(event: 'closed', listener: () => void): unknown
  /** The connection of a worker of version 5. */
  client?: Promise<unknown>
  /** The owner of the connection of a worker of version 6. */
  getBackend?(): { client?: Promise<unknown> }
}

/**
 * The used part of ioredis. This package does not import ioredis, so that it works with the version of
 * BullMQ.
 */
export interface RedisConnection {
  status: string
  info(section: string): Promise<string>
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
 * Opens a connection with the settings of the worker's connection, because the worker closes its own one
 * before the last counts are sent.
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
