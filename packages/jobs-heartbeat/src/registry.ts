/** The hash of a process expires after this time without a beat. */
export const processTtlSeconds = 60

export const bullmqPrefixDefault = 'bull'

/**
 * Returns the keys of the registry of the workers of a BullMQ prefix: a hash for each process, as in
 * Sidekiq, sets of processes and queues, and totals. Every key has the hash tag `{jq}`, so that a beat is one
 * transaction even on a Redis Cluster.
 *
 * @param prefix the prefix of the queues' own keys
 */
export function registryKeys(prefix: string) {
  const base = `{jq}:${prefix}`
  return {
    /** Sorted set of process ids `host:pid:nonce`; score: time of the last beat by the clock of Redis, ms. */
    processes: `${base}:processes`,
    /** Set of the names of all queues ever served. */
    queues: `${base}:queues`,
    /** Number of all attempts, including failed ones. */
    processed: `${base}:stat:processed`,
    /** Number of attempts that threw. */
    failed: `${base}:stat:failed`,
    /** Hash: `processed` by queue. */
    processedByQueue: `${base}:stat:processed-by-queue`,
    /** Hash: `failed` by queue. */
    failedByQueue: `${base}:stat:failed-by-queue`,
    /** Hash of one process; see {@link ProcessHash}. */
    process: (id: string) => `${base}:p:${id}`,
    /**
     * Returns the key of the attempts of a day.
     *
     * @param day UTC, `YYYY-MM-DD`
     */
    processedOn: (day: string) => `${base}:stat:processed:${day}`,
    /**
     * Returns the key of the failed attempts of a day.
     *
     * @param day UTC, `YYYY-MM-DD`
     */
    failedOn: (day: string) => `${base}:stat:failed:${day}`,
  }
}

export type RegistryKeys = ReturnType<typeof registryKeys>

/**
 * Returns the time of a Redis, ms. All workers and readers of the registry share it, independent of their own
 * clocks. INFO needs only rights that BullMQ and ioredis need anyway. Null for an old Redis that does not
 * show its time.
 *
 * @param info answer of INFO
 */
export function redisTimeMs(info: string): number | null {
  const microseconds = /^server_time_usec:(\d+)/m.exec(info)?.[1]
  return microseconds === undefined ? null : Math.floor(Number(microseconds) / 1000)
}

/** Constant part of a process, JSON in the hash field `info`. Names are Sidekiq's. */
export interface ProcessInfo {
  hostname: string
  pid: number
  tag: string
  /** Epoch seconds, with a fraction. */
  started_at: number
  queues: string[]
  labels: string[]
  /** Most simultaneous jobs of the process, over all of its queues. */
  concurrency: number
  identity: string
}

/** Fields of a process hash, as Redis stores them. */
export interface ProcessHash {
  info: string
  /** Running jobs at the last beat. */
  busy: string
  concurrency: string
  /** Epoch seconds of the last beat by the clock of Redis, with fraction. */
  beat: string
  /** `true` while the process accepts no more jobs. */
  quiet: string
  /** Resident memory, KiB. */
  rss: string
  /** Duration of the previous beat, microseconds. */
  rtt_us: string
}
