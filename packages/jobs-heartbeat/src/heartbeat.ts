import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { sendBeat, sendFarewell } from './beat.js'
import { type BullmqWorker, connectLike, countJobs, type RedisConnection } from './bullmq-worker.js'
import { JobCounts } from './job-counts.js'
import { bullmqPrefixDefault, type ProcessInfo, type RegistryKeys, registryKeys } from './registry.js'

export interface HeartbeatOptions {
  /** Shown with the process, such as the name of its deployment. Unset: empty. */
  tag?: string
  /** Shown with the process. */
  labels?: string[]
  /** An ioredis connection to beat on, which stays open. Unset: one like the first worker's, closed at the end. */
  redis?: object
  /** Told of every beat that did not reach Redis. What it was to count waits for the next one. */
  onError?: (error: unknown) => void
}

export interface Heartbeat {
  /** Jobs under way in this process. */
  busy(): number
  /** This process takes no more jobs; shown at once. Comes by itself when a worker begins to close. */
  quiet(): void
  /** Adds the last counts and leaves the registry. Comes by itself when every worker has closed. */
  stop(): Promise<void>
}

const beatMs = 5000
/** How long leaving may take; Redis may be away by then, and the entry runs out by itself. */
const farewellMs = 1000

/**
 * Shows this process and its BullMQ workers, version 5 or 6, in the job-queue metrics: at once, every five
 * seconds and as soon as Redis is back, until its workers have closed.
 *
 * @param workers one, or all that share a prefix; made in this process, with their processors
 * @throws Error for workers of several prefixes, and for one without a processor
 * @example startHeartbeat(new Worker('mail', send, { connection }))
 */
export function startHeartbeat(
  workers: BullmqWorker | readonly BullmqWorker[],
  options: HeartbeatOptions = {},
): Heartbeat {
  const all: readonly BullmqWorker[] = Array.isArray(workers) ? workers : [workers]
  const keys = registryKeys(sharedPrefix(all))
  const counts = new JobCounts()
  for (const worker of all) countJobs(worker, counts)
  const heart = new Heart(keys, describeProcess(all, options), counts, options.onError ?? (() => {}))
  heart.start(options.redis as RedisConnection | undefined, () => connectLike(all[0] as BullmqWorker))

  let open = all.length
  for (const worker of all) {
    worker.on('closing', () => heart.quiet())
    worker.on('closed', () => {
      open -= 1
      if (open === 0) heart.stop().catch(() => {})
    })
    letCloseWait(worker, () => (open === 0 ? heart.stop() : Promise.resolve()))
  }
  return { busy: () => counts.busy, quiet: () => heart.quiet(), stop: () => heart.stop() }
}

/** Whoever has waited for a worker to close may end the process; the last counts have to be out by then. */
function letCloseWait(worker: BullmqWorker, farewell: () => Promise<void>): void {
  const close = worker.close.bind(worker)
  worker.close = async (force) => {
    await close(force)
    await farewell()
  }
}

function sharedPrefix(workers: readonly BullmqWorker[]): string {
  const prefixes = new Set(workers.map(({ opts }) => opts.prefix ?? bullmqPrefixDefault))
  const [prefix, ...others] = prefixes
  if (prefix === undefined) throw new Error('a heartbeat needs a worker')
  if (others.length > 0) throw new Error('workers of several prefixes need a heartbeat each')
  return prefix
}

/** The nonce tells this process from an earlier one: in containers the pid is always the same. */
function describeProcess(workers: readonly BullmqWorker[], { tag, labels }: HeartbeatOptions): ProcessInfo {
  const host = hostname()
  return {
    hostname: host,
    pid: process.pid,
    tag: tag ?? '',
    started_at: (Date.now() - process.uptime() * 1000) / 1000,
    queues: [...new Set(workers.map(({ name }) => name))],
    labels: labels ?? [],
    concurrency: workers.reduce((sum, { concurrency }) => sum + concurrency, 0),
    identity: `${host}:${process.pid}:${randomBytes(6).toString('hex')}`,
  }
}

/** Beats one after the other, on whatever connection there is. */
class Heart {
  #redis: RedisConnection | undefined
  #ownsRedis = false
  #quiet = false
  #rttUs = 0
  #beating: Promise<void> | null = null
  #stopping: Promise<void> | undefined
  #stopped = false
  #timer: NodeJS.Timeout | undefined
  readonly #beat = () => this.#beatUnlessBeating()

  constructor(
    private readonly keys: RegistryKeys,
    private readonly info: ProcessInfo,
    private readonly counts: JobCounts,
    private readonly onError: (error: unknown) => void,
  ) {}

  start(given: RedisConnection | undefined, connect: () => Promise<RedisConnection>): void {
    // The workers keep the process alive, not their heartbeat.
    this.#timer = setInterval(this.#beat, beatMs).unref()
    if (given) this.#use(given)
    else
      connect().then((redis) => {
        this.#ownsRedis = true
        if (this.#stopped) return redis.disconnect()
        redis.on('error', this.onError)
        this.#use(redis)
      }, this.onError)
  }

  quiet(): void {
    if (this.#quiet || this.#stopped) return
    this.#quiet = true
    this.#beatUnlessBeating()
  }

  stop(): Promise<void> {
    this.#stopped = true
    this.#stopping ??= this.#leave()
    return this.#stopping
  }

  #use(redis: RedisConnection): void {
    this.#redis = redis
    redis.on('ready', this.#beat)
    if (redis.status === 'ready') this.#beatUnlessBeating()
  }

  #beatUnlessBeating(): void {
    if (!this.#redis || this.#stopped) return
    this.#beating ??= this.#send(this.#redis).finally(() => {
      this.#beating = null
    })
  }

  async #send(redis: RedisConnection): Promise<void> {
    const taken = this.counts.take()
    const startedNs = process.hrtime.bigint()
    try {
      const state = { busy: this.counts.busy, quiet: this.#quiet, rttUs: this.#rttUs }
      await sendBeat(redis, this.keys, this.info, state, taken)
      this.#rttUs = Number((process.hrtime.bigint() - startedNs) / 1000n)
    } catch (error) {
      this.counts.giveBack(taken)
      this.onError(error)
    }
  }

  async #leave(): Promise<void> {
    clearInterval(this.#timer)
    const redis = this.#redis
    if (!redis) return
    redis.off('ready', this.#beat)
    await withinFarewell(this.#sendLast(redis))
    if (this.#ownsRedis) redis.disconnect()
  }

  async #sendLast(redis: RedisConnection): Promise<void> {
    await this.#beating
    await sendFarewell(redis, this.keys, this.info, this.counts.take()).catch(this.onError)
  }
}

async function withinFarewell(leaving: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, farewellMs)
  })
  await Promise.race([leaving, tooLate])
  clearTimeout(timer)
}
