import type { Clock } from '@switchyard/domain'
import { registryKeys } from '@switchyard/jobs-heartbeat/registry'
import type { Logger } from '@switchyard/service-kit/observability'
import type { BullmqSourceConfig } from '../../source-config.js'
import { byIdentity, readProcesses } from '../read-processes.js'
import type { RedisReader } from '../redis/redis-reader.js'
import type { JobSource, SourceSnapshot, WorkerProcess } from '../sources.js'
import { createDiscovery } from './discovery.js'
import { readOldestJobs } from './oldest-jobs.js'
import { type QueueCounts, readQueueCounts } from './queue-counts.js'
import { queueMetrics, type ReadQueue, totalsOf } from './queue-metrics.js'
import { beatingIds, readRegistry } from './read-registry.js'
import { processesOf, type WorkerConnection } from './worker-connections.js'

/**
 * Reads BullMQ 5 and 6 in up to five round trips: names, counts, ids of the oldest jobs (again where a queue
 * has several priorities), their times. BullMQ's own class Queue is not used, because it writes while it
 * reads.
 */
export function createBullmqSource(
  { name, prefix, queues: configured, discover }: BullmqSourceConfig,
  redis: RedisReader,
  clock: Clock,
  logger: Logger,
): JobSource {
  const keys = registryKeys(prefix)
  const discovery = discover ? createDiscovery(redis, prefix, logger) : null
  let startsMs: ReadonlyMap<string, number> = new Map()

  return {
    name,
    async read(): Promise<SourceSnapshot> {
      const [registry, aheadMs, connections, found] = await Promise.all([
        readRegistry(redis, keys),
        redis.clockAheadMs(),
        discovery?.connections() ?? [],
        discovery?.queueNames() ?? [],
      ])
      const ownNowMs = clock().getTime()
      const nowMs = ownNowMs + aheadMs
      const served = new Set(registry.names)
      const names = new Set([...served, ...configured, ...found, ...connections.map(({ queue }) => queue)])
      const [queues, withHeartbeat] = await Promise.all([
        readQueues(redis, prefix, [...names].sort(), served, nowMs),
        readProcesses(redis, beatingIds(registry, nowMs), keys.process, { nowMs, aheadMs }),
      ])
      const busy = new Map(queues.map((queue) => [queue.name, queue.counts.active]))
      const noHeartbeat = processesOf(
        withoutHeartbeat(connections, withHeartbeat),
        ownNowMs,
        startsMs,
        (queue) => busy.get(queue) ?? 0,
      )
      startsMs = new Map(noHeartbeat.map(({ identity, startedAt }) => [identity, startedAt.getTime()]))
      return {
        queues: queues.map((queue) => queueMetrics(queue, registry, nowMs)),
        processes: [...withHeartbeat, ...noHeartbeat].sort(byIdentity),
        jobs: totalsOf(queues, registry),
      }
    },
    close() {
      discovery?.stop()
      redis.close()
    },
  }
}

async function readQueues(
  redis: RedisReader,
  prefix: string,
  names: readonly string[],
  served: ReadonlySet<string>,
  nowMs: number,
): Promise<ReadQueue[]> {
  const queues = names.map((name) => ({
    name,
    base: `${prefix}:${name}:`,
    hasHeartbeat: served.has(name),
  }))
  const counts = await readQueueCounts(redis, queues, nowMs)
  const counted = queues.map((queue, index) => ({ ...queue, counts: counts[index] as QueueCounts }))
  const oldest = await readOldestJobs(redis, counted, nowMs)
  return counted.map((queue, index) => ({ ...queue, oldestMs: oldest[index] ?? [] }))
}

/**
 * Filters connections of processes without a heartbeat. Once a process with a heartbeat serves a queue, all
 * its processes are assumed to have one.
 */
function withoutHeartbeat(
  connections: WorkerConnection[],
  withHeartbeat: WorkerProcess[],
): WorkerConnection[] {
  const known = new Set(withHeartbeat.flatMap(({ queues }) => queues))
  return connections.filter(({ queue }) => !known.has(queue))
}
