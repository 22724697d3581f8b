import { sagaEventsChannel } from '@switchyard/contracts/jobs'
import type { CommittedBatch } from '@switchyard/db'
import type { Logger } from '@switchyard/service-kit/observability'
import { createRedis, reportRedis } from '@switchyard/service-kit/redis'

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
  const publishing = reportRedis(
    logger,
    'no connection to Redis: other replicas find the saga events of this one up to a second late',
  )
  const publisher = createRedis({ url: redisUrl, onError: publishing.disconnected })
  publisher.on('ready', publishing.connected)
  const listening = reportRedis(
    logger,
    'no connection to Redis: this replica finds the saga events of others up to a second late',
  )
  const subscriber = createRedis({ url: redisUrl, onError: listening.disconnected, autoResubscribe: false })
  subscriber.on('ready', () => {
    listening.connected()
    subscriber.subscribe(sagaEventsChannel).catch(listening.commandFailed)
    // Notices from before the subscription are lost.
    onNotice()
  })
  subscriber.on('message', onNotice)
  return {
    publish(batch) {
      if (publisher.status !== 'ready') return
      publisher.publish(sagaEventsChannel, JSON.stringify(batch)).catch(publishing.commandFailed)
    },
    close() {
      publisher.disconnect()
      subscriber.disconnect()
    },
  }
}
