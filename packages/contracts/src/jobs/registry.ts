import { z } from 'zod'

/**
 * Where workers say that they live and how much they did: a mix of Sidekiq's process hash and a set scored
 * by beat, so that nobody has to search for keys. Every key bears the hash tag `{jq}`.
 */
export const registryKeys = {
  /** Sorted set of process ids `host:pid:nonce`; score: time of the last beat, ms. */
  processes: '{jq}:processes',
  /** Set of the names of all queues ever served. */
  queues: '{jq}:queues',
  /** Attempts ever made, failed ones included. */
  processed: '{jq}:stat:processed',
  /** Attempts that threw. */
  failed: '{jq}:stat:failed',
  /** Hash of one process; see {@link ProcessHash}. */
  process: (id: string) => `{jq}:p:${id}`,
  /** @param day UTC, `YYYY-MM-DD` */
  processedOn: (day: string) => `{jq}:stat:processed:${day}`,
  /** @param day UTC, `YYYY-MM-DD` */
  failedOn: (day: string) => `{jq}:stat:failed:${day}`,
}

/** A process without a beat for this long is gone; its hash expires by itself. */
export const processTtlSeconds = 60

/** Constant part of a process, JSON in the hash field `info`. Names are Sidekiq's. */
export const processInfo = z.object({
  hostname: z.string(),
  pid: z.int(),
  tag: z.string(),
  /** Epoch seconds, with fraction. */
  started_at: z.number(),
  queues: z.array(z.string()),
  labels: z.array(z.string()),
  /** Jobs the process may run at once, over all of its queues. */
  concurrency: z.int(),
  identity: z.string(),
})

export type ProcessInfo = z.infer<typeof processInfo>

/** Fields of a process hash, as Redis holds them. */
export interface ProcessHash {
  info: string
  /** Jobs under way at the last beat. */
  busy: string
  concurrency: string
  /** Epoch seconds of the last beat, with fraction. */
  beat: string
  /** `true` while the process takes no more jobs. */
  quiet: string
  /** Resident memory, KiB. */
  rss: string
  /** Duration of the beat before, microseconds. */
  rtt_us: string
}
