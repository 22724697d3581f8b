import { jobKeyPrefix } from '@switchyard/contracts/jobs'
import type { Logger } from '@switchyard/service-kit/observability'
import { Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import type { JobType, Schedule } from '../job-type.js'

/**
 * Registers the schedules of jobs at every connection to Redis, so that a Redis that lost its data gets them
 * again. Every replica does so, because schedules of the same name are one schedule.
 */
export function keepSchedules(types: JobType[], redis: Redis, logger: Logger): void {
  const register = () => {
    for (const { queue, schedule } of types) {
      if (!schedule) continue
      registerSchedule(queue, schedule, redis).catch((error: unknown) =>
        logger.warn({ err: error, queue }, 'could not register a schedule'),
      )
    }
  }
  redis.on('ready', register)
  if (redis.status === 'ready') register()
}

async function registerSchedule(name: string, schedule: Schedule, redis: Redis): Promise<void> {
  const queue = new Queue(name, { connection: redis, prefix: jobKeyPrefix, skipVersionCheck: true })
  // Failures reach the caller through the calls below.
  queue.on('error', () => {})
  const { atStart, attempts, retryDelayMs } = schedule
  const times = 'everyMs' in schedule ? { every: schedule.everyMs } : { pattern: schedule.pattern, tz: 'UTC' }
  const options = {
    attempts,
    backoff: { type: 'exponential', delay: retryDelayMs },
    // Otherwise, an hour without PostgreSQL would leave thousands of dead jobs, and hide the ones that
    // matter.
    ...(attempts === 1 ? { removeOnFail: true } : {}),
  }
  try {
    await queue.upsertJobScheduler(name, times, { name, data: {}, opts: options })
    if (atStart) await queue.add(name, {}, { ...options, deduplication: { id: 'at-start' } })
  } finally {
    await queue.close()
  }
}
