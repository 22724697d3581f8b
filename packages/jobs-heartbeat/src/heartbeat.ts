import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { sendBeat, sendFarewell } from './beat.js'
import { type BullmqWorker, connectLike, type RedisConnection } from './connect.js'
import { type BullmqJob, countJobs, type Processor } from './count-jobs.js'
import { JobCounts } from './job-counts.js'
import { bullmqPrefixDefault, type ProcessInfo, type RegistryKeys, registryKeys } from './registry.js'

export interface HeartbeatOptions {
  /** Tag of the process in the metrics, such as the name of its deployment. Unset: empty. */
  tag?: string
  /** Labels of the process in the metrics. */
  labels?: string[]
  /**
   * An ioredis connection, which stays open. Unset: a connection like that of the first worker, which is
   * closed at the end.
   */
  redis?: object
  /** Called for every failed beat. The next beat sends its counts. */
  onError?: (error: unknown) => void
}

export interface Heartbeat {
  /** Wraps the processor of a worker so that its attempts are counted. */
  count<Job extends BullmqJob, Result>(processor: Processor<Job, Result>): Processor<Job, Result>
  /**
   * Starts to send beats for the workers of this process, which must share a prefix: now, every five seconds,
   * and after each reconnection. Call it once.
   *
   * @throws Error for workers of several prefixes, and for a second call
   */
  start(workers: BullmqWorker | readonly BullmqWorker[]): void
  /** Returns the number of running jobs of this process. */
  busy(): number
  /**
   * Reports at once that this process accepts no more jobs. Called automatically when a worker begins to
   * close.
   */
  quiet(): void
  /**
   * Adds the last counts and removes this process from the registry. Called automatically when every worker
   * has closed; wait for it before the process ends. It takes a second at most.
   */
  stop(): Promise<void>
}

const beatMs = 5000
/** Time limit for leaving the registry. Without Redis, the entry of the process expires. */
const farewellMs = 1000

/**
 * Reports this process and its BullMQ workers, version 5 or 6, to the job-queue metrics.
 *
 * @example
 * const heartbeat = createHeartbeat()
 * heartbeat.start(new Worker('mail', heartbeat.count(send), { connection }))
 */
export function createHeartbeat(options: HeartbeatOptions = {}): Heartbeat {
  const counts = new JobCounts()
  let heart: Heart | null = null
  return {
    count: (processor) => countJobs(processor, counts),
    start(workers) {
      if (heart) throw new Error('the heartbeat has started already: start it once, with all workers')
      const all: readonly BullmqWorker[] = Array.isArray(workers) ? workers : [workers]
      const keys = registryKeys(sharedPrefix(all))
      heart = new Heart(keys, describeProcess(all, options), counts, options.onError ?? (() => {}))
      heart.start(options.redis as RedisConnection | undefined, () => connectLike(all[0] as BullmqWorker))
      followWorkers(all, heart)
    },
    busy: () => counts.busy,
    quiet: () => heart?.quiet(),
    stop: async () => heart?.stop(),
  }
}

function followWorkers(workers: readonly BullmqWorker[], heart: Heart): void {
  let open = workers.length
  for (const worker of workers) {
    worker.on('closing', () => heart.quiet())
    worker.on('closed', () => {
      open -= 1
      if (open === 0) void heart.stop()
    })
  }
}

function sharedPrefix(workers: readonly BullmqWorker[]): string {
  const prefixes = new Set(workers.map(({ opts }) => opts.prefix ?? bullmqPrefixDefault))
  const [prefix, ...rest] = prefixes
  if (prefix === undefined) throw new Error('a heartbeat needs a worker')
  if (rest.length > 0) throw new Error('workers of several prefixes need a heartbeat each')
  return prefix
}

/**
 * Describes this process. The random part of the identity distinguishes it from an earlier process, because
 * containers reuse process ids.
 */
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

/** The sender of beats, one after the other, on the given connection or its own one. */
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
    // The timer does not keep the process alive.
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
