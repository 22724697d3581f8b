import type { CommittedBatch } from '@switchyard/db'
import type { Logger } from '@switchyard/service-kit/observability'
import { createRedis } from '@switchyard/service-kit/redis'

/** Every replica hears here that something was added to the log. What that is, the log says. */
const channel = 'switchyard:saga-events'

/** Wake-up calls between replicas: any may be lost, and nothing with it. */
export interface Notices {
  /** Tells every replica of what was committed. Never waits and never fails. */
  publish(batch: CommittedBatch): void
  close(): void
}

/** Without Redis, replicas look at the log every second. */
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
    subscriber.subscribe(channel).catch(onError)
    // Whatever was said meanwhile was not heard.
    onNotice()
  })
  subscriber.on('message', onNotice)
  return {
    publish(batch) {
      if (publisher.status !== 'ready') return
      publisher.publish(channel, JSON.stringify(batch)).catch(onError)
    },
    close() {
      publisher.disconnect()
      subscriber.disconnect()
    },
  }
}
