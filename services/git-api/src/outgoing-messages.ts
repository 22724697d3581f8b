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
import { openRedis } from '@switchyard/service-kit/redis'

/**
 * Messages to other processes through Redis. They can all be repeated, so nothing here fails or delays a
 * request.
 */
export interface OutgoingMessages {
  /** Requests housekeeping of a repository soon after a push. */
  requestHousekeeping(projectId: number): void
  /** Publishes an event of a project to the current listeners. */
  announce(notice: ProjectNotice): void
  close(): Promise<void>
}

/**
 * Opens the connection over which messages go, and returns it too. Without it, jobs are dropped, because the
 * next push to a project requests the same work again.
 *
 * @param storage name of the storage whose repositories the jobs are about
 */
export function openOutgoingMessages(redisUrl: string, logger: Logger, storage: string) {
  const connection = openRedis(redisUrl, logger, 'no connection to Redis: background jobs are dropped')
  const { redis, report } = connection
  const queueName = repositoryHousekeepingQueue(storage)
  const queues = createJobQueues({ prefix: jobKeyPrefix, connection: redis, onError: report.disconnected })

  const messages: OutgoingMessages = {
    requestHousekeeping(projectId) {
      if (redis.status !== 'ready') return
      const { name, data, options } = repositoryHousekeepingJob(projectId)
      queues.get(queueName).add(name, data, options).catch(report.commandFailed)
    },
    announce(notice) {
      publishNotice(connection, projectEventsChannel, notice)
    },
    async close() {
      await queues.close()
      redis.disconnect()
    },
  }
  return { messages, redis }
}
