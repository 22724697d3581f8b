import { setTimeout as delay } from 'node:timers/promises'
import {
  type BroadcastNotice,
  broadcastBoundaryJob,
  broadcastChannel,
  broadcastHorizonMs,
  queueNames,
} from '@switchyard/contracts/jobs'
import { type Database, listUnfinishedBroadcastMessages } from '@switchyard/db'
import type { Clock } from '@switchyard/domain'
import { boundariesBetween } from '@switchyard/domain/broadcast'
import type { Redis } from 'ioredis'
import { jobType, type Producer } from '../job-type.js'

/**
 * Plans a job for every instant of the next day at which a message appears or disappears. It reads the
 * messages from the table, so that it also plans jobs that Redis has lost, jobs of messages that were written
 * while Redis was unreachable, and jobs that were more than a day away. Existing jobs stay unchanged.
 */
export const broadcastPlanning = ({
  database,
  clock,
  producer,
}: {
  database: Database
  clock: Clock
  producer: Producer
}) =>
  jobType({
    queue: 'broadcast-planning',
    concurrency: 1,
    timeoutMs: 60_000,
    schedule: { pattern: '*/5 * * * *', atStart: true, attempts: 5, retryDelayMs: 1000 },
    async run(_payload, { logger }) {
      const now = clock()
      const messages = await listUnfinishedBroadcastMessages(database, now)
      const boundaries = boundariesBetween(messages, now, new Date(now.getTime() + broadcastHorizonMs))
      if (boundaries.length === 0) return
      const planned = boundaries.map((at) => broadcastBoundaryJob(at, now))
      await producer.addAll(queueNames.broadcastBoundary, planned)
      logger.debug({ boundaries: boundaries.length }, 'planned the boundaries of broadcast messages')
    },
  })

/**
 * Notifies every replica of admin-broadcast at the instant at which a message appears or disappears. The
 * replicas know the messages: they ignore a repeated notice, and a notice for an instant at which no message
 * changes any more. The job starts a little early and waits for its instant, because BullMQ checks delayed
 * jobs only ten times a second.
 */
export const broadcastBoundary = ({ redis, clock }: { redis: Redis; clock: Clock }) =>
  jobType({
    queue: queueNames.broadcastBoundary,
    concurrency: 10,
    timeoutMs: 10_000,
    async run({ at }, { signal }) {
      const early = at - clock().getTime()
      if (early > 0) await delay(early, undefined, { signal })
      const notice: BroadcastNotice = { at }
      await redis.publish(broadcastChannel, JSON.stringify(notice))
    },
  })
