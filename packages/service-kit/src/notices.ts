import type { Logger } from './observability/index.js'
import { openRedis, type ReportedRedis } from './redis.js'

export interface NoticeListener {
  redisUrl: string
  channel: string
  logger: Logger
  /** Logged when an outage of Redis starts. */
  outageMessage: string
  onNotice: (text: string) => void
  /** Notices arrive from now on; those from before are lost. */
  onSubscribed: () => void
  /** No notice arrives until `onSubscribed` is called again. */
  onUnsubscribed?: () => void
}

/**
 * Receives the notices of other processes. Redis may lose a notice, so each listener also polls.
 *
 * @returns a function that ends it
 */
export function listenForNotices(listener: NoticeListener): () => void {
  const { redisUrl, channel, logger, outageMessage, onNotice, onSubscribed, onUnsubscribed } = listener
  const { redis: subscriber, report } = openRedis(redisUrl, logger, outageMessage, {
    autoResubscribe: false,
  })
  subscriber.on('ready', async () => {
    try {
      await subscriber.subscribe(channel)
      onSubscribed()
    } catch (error) {
      report.commandFailed(error)
      // Without the subscription the connection is of no use; a new one tries again.
      subscriber.disconnect(true)
    }
  })
  subscriber.on('close', () => onUnsubscribed?.())
  subscriber.on('message', (_channel, text) => onNotice(text))
  return () => subscriber.disconnect()
}

/**
 * Sends a notice to the listeners of other processes. Never waits and never fails: without a connection, the
 * notice is lost.
 */
export function publishNotice({ redis, report }: ReportedRedis, channel: string, notice: unknown): void {
  if (redis.status !== 'ready') return
  redis.publish(channel, JSON.stringify(notice)).catch(report.commandFailed)
}
