import {
  jobKeyPrefix,
  type ProjectNotice,
  projectEventsChannel,
  repositoryHousekeepingJob,
  repositoryHousekeepingQueue,
} from '@switchyard/contracts/jobs'
import { createJobQueues } from '@switchyard/service-kit/job-queues'
import { publishNotice } from '@switchyard/service-kit/notices'
import type { Logger } from '@switchyard/service-kit/observability'
import { createRedis, reportRedis } from '@switchyard/service-kit/redis'

export interface RedisInfo {
  version: string
  usedMemoryBytes: number
}

/**
 * What goes to other processes through Redis. Nothing here fails or delays a request, because all of it can
 * be repeated.
 */
export interface Jobs {
  /** Tidy a repository soon, after something was pushed to it. */
  requestHousekeeping(projectId: number): void
  /** Publishes an event of a project to the current listeners. */
  announce(notice: ProjectNotice): void
  /** Null without a connection to Redis. */
  readRedisInfo(): Promise<RedisInfo | null>
  close(): Promise<void>
}

/**
 * Hands jobs to the workers through Redis. Without a connection to Redis, jobs are dropped: the next push to
 * a project requests the same work again.
 *
 * @param storage name of the storage whose repositories the jobs are about
 */
export function createJobs(redisUrl: string, logger: Logger, storage: string): Jobs {
  const report = reportRedis(logger, 'no connection to Redis: background jobs are dropped')
  const redis = createRedis({ url: redisUrl, onError: report.disconnected })
  redis.on('ready', report.connected)
  const queueName = repositoryHousekeepingQueue(storage)
  const queues = createJobQueues({ prefix: jobKeyPrefix, connection: redis, onError: report.disconnected })

  return {
    requestHousekeeping(projectId) {
      if (redis.status !== 'ready') return
      const { name, data, options } = repositoryHousekeepingJob(projectId)
      queues.get(queueName).add(name, data, options).catch(report.commandFailed)
    },
    announce(notice) {
      publishNotice({ redis, channel: projectEventsChannel, report }, notice)
    },
    async readRedisInfo() {
      if (redis.status !== 'ready') return null
      const info = await redis.info()
      const version = /^redis_version:(\S+)/m.exec(info)?.[1] ?? ''
      return { version, usedMemoryBytes: Number(/^used_memory:(\d+)/m.exec(info)?.[1]) }
    },
    async close() {
      await queues.close()
      redis.disconnect()
    },
  }
}
