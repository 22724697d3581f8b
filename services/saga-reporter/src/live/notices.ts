import { sagaEventsChannel } from '@switchyard/contracts/jobs'
import type { CommittedBatch } from '@switchyard/db'
import type { Logger } from '@switchyard/service-kit/observability'
import { createRedis } from '@switchyard/service-kit/redis'

/** Notices between replicas. A lost notice only delays events, since every replica polls as well. */
export interface Notices {
  /** Notifies every replica of a commit. Never waits and never fails. */
  publish(batch: CommittedBatch): void
  close(): void
}

/** Without Redis, replicas poll the log every second. */
export const noNotices: Notices = { publish: () => {}, close: () => {} }

export interface NoticesOptions {
  redisUrl: string
  onNotice: () => void
  logger: Logger
}

export function createNotices({ redisUrl, onNotice, logger }: NoticesOptions): Notices {
  let isAway = false
  const onError = (error: Error) => {
    if (!isAway) logger.warn({ err: error }, 'Redis is away: replicas look for saga events every second')
    isAway = true
  }
  const publisher = createRedis({ url: redisUrl, onError })
  const subscriber = createRedis({ url: redisUrl, onError, autoResubscribe: false })
  subscriber.on('ready', () => {
    isAway = false
    subscriber.subscribe(sagaEventsChannel).catch(onError)
    // Notices from before the subscription are lost.
    onNotice()
  })
  subscriber.on('message', onNotice)
  return {
    publish(batch) {
      if (publisher.status !== 'ready') return
      publisher.publish(sagaEventsChannel, JSON.stringify(batch)).catch(onError)
    },
    close() {
      publisher.disconnect()
      subscriber.disconnect()
    },
  }
}
