import type { Clock } from '@switchyard/domain'
import { registryKeys } from '@switchyard/jobs-heartbeat/registry'
import type { Logger } from '@switchyard/service-kit/observability'
import { inParts } from '../in-parts.js'
import type { JobSource, QueueFigures, SourceSnapshot, WorkerProcess } from '../job-source.js'
import { byIdentity, createProcessReader } from '../process-hash.js'
import { createReadAhead } from '../read-ahead.js'
import type { RedisReader } from '../redis/redis-reader.js'
import { askInRounds } from '../redis/rounds.js'
import type { BullmqSourceConfig } from '../source-config.js'
import { createProcessGuesser, type WorkerClient, workerClientsOf } from './client-list.js'
import { QueueQuestions } from './queue-questions.js'
import { type BullmqQueue, existingKeys, type JobKey, type QueueReading, queueOf } from './queue-reading.js'
import { askAboutQueue } from './read-queue.js'
import { type Registry, readRegistry } from './read-registry.js'
import { scanNames } from './scanned-names.js'
import { totalsOf } from './totals.js'

/**
 * BullMQ 5 and 6 and the processes of the heartbeat's registry, read in two round trips once it is known who they
 * are: names and meanwhile counts, then the oldest jobs. A queue that holds jobs of another kind than the last time,
 * or of several priorities, takes one or two more. BullMQ's own Queue class is not used, because it writes while it
 * reads.
 */
export function createBullmqSource(
  config: BullmqSourceConfig,
  redis: RedisReader,
  clock: Clock,
  logger: Logger,
): JobSource {
  const { name, prefix } = config
  const keys = registryKeys(prefix)
  const readProcesses = createProcessReader(redis, keys.process)
  const readServed = createReadAhead<KnownQueue>()
  const readUnserved = createReadAhead<KnownQueue>()
  const guesser = createProcessGuesser()
  const scanned = config.scanMinutes ? scanNames(redis, prefix, config.scanMinutes, logger) : null

  /** @param wantsEnded whether it takes the queues themselves to know what came to an end */
  const readQueues =
    (nowMs: number, wantsEnded: boolean) => (names: string[], before: (KnownQueue | undefined)[]) =>
      inParts(names, queuesInPart, async (part, start) => {
        const queues = part.map((queue, index) => ({
          questions: before[start + index]?.questions ?? new QueueQuestions(`${prefix}:${queue}:`),
          likely: before[start + index]?.existing ?? [],
        }))
        const readings = await askInRounds(redis, (ask) =>
          queues.map((queue) => askAboutQueue(ask, { ...queue, nowMs, wantsEnded })),
        )
        return queues.map(({ questions }, index) => {
          const reading = readings[index] as QueueReading
          const figures = queueOf(part[index] ?? '', reading, nowMs)
          return { questions, figures, existing: existingKeys(reading) }
        })
      })

  return {
    name,
    async read(): Promise<SourceSnapshot> {
      const nowMs = clock().getTime()
      const asked = readRegistry(redis, keys, nowMs)
      const listed = config.clients
        ? redis.clientList().then((lines) => workerClientsOf(lines, prefix))
        : Promise.resolve([])
      const names = asked.then((registry) => registry.names)
      const others = Promise.all([asked, listed]).then(([registry, clients]) =>
        namesOfOthers(registry, config.queues, scanned?.current() ?? [], clients),
      )
      const [registry, clients, knownServed, knownUnserved, processes] = await Promise.all([
        asked,
        listed,
        readServed(names, readQueues(nowMs, false)),
        readUnserved(others, readQueues(nowMs, true)),
        readProcesses(asked.then(({ ids }) => ids)),
      ])
      const served = knownServed.map(({ figures }) => figures)
      const unserved = knownUnserved.map(({ figures }) => figures)
      const busy = new Map([...served, ...unserved].map((queue) => [queue.name, queue.busy ?? 0]))
      const guessed = guesser.guess(
        withoutHeartbeat(clients, processes),
        nowMs,
        (queue) => busy.get(queue) ?? 0,
      )
      return {
        queues: [
          ...served.map((queue) => figuresOf(queue, registry, true)),
          ...unserved.map((queue) => figuresOf(queue, registry, false)),
        ].sort(byName),
        processes: [...processes, ...guessed].sort(byIdentity),
        jobs: totalsOf(served, unserved, registry),
      }
    },
    close() {
      scanned?.stop()
      redis.close()
    },
  }
}

/** While the server answers about some queues, the questions about the next are written down. */
const queuesInPart = 250

/** A queue as it was the last time. */
interface KnownQueue {
  questions: QueueQuestions
  figures: BullmqQueue
  /** Keys that were there, and are likely to be again. */
  existing: JobKey[]
}

const byName = (a: QueueFigures, b: QueueFigures) => (a.name < b.name ? -1 : 1)

/** Queues that the registry does not know. */
function namesOfOthers(
  { names }: Registry,
  given: string[],
  scanned: string[],
  clients: WorkerClient[],
): string[] {
  const registered = new Set(names)
  const found = new Set([...given, ...scanned, ...clients.map(({ queue }) => queue)])
  return [...found].filter((name) => !registered.has(name))
}

/** A queue that a process with a heartbeat serves is taken to be served by such ones only. */
function withoutHeartbeat(clients: WorkerClient[], processes: WorkerProcess[]): WorkerClient[] {
  if (clients.length === 0) return []
  const known = new Set(processes.flatMap(({ queues }) => queues))
  return clients.filter(({ queue }) => !known.has(queue))
}

function figuresOf(
  queue: BullmqQueue,
  { processedBy, failedBy }: Registry,
  hasHeartbeat: boolean,
): QueueFigures {
  const { name, backlog, latencySeconds, paused, busy, ended } = queue
  const unlessApproximate = (count: number) => (ended.approximate ? null : count)
  return {
    name,
    backlog,
    latencySeconds,
    paused,
    busy,
    processed: hasHeartbeat ? Number(processedBy.get(name) ?? 0) : unlessApproximate(ended.processed),
    failed: hasHeartbeat ? Number(failedBy.get(name) ?? 0) : unlessApproximate(ended.failed),
  }
}
