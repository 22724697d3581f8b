import type { Logger } from './observability/index.js'
import { openRedis, type ReportedRedis } from './redis.js'

export interface NoticeListener {
  redisUrl: string
  channel: string
  logger: Logger
  /** Message that is logged when an outage of Redis starts. */
  outageMessage: string
  onNotice: (text: string) => void
  /** Called when notices begin to arrive. Earlier notices are lost. */
  onSubscribed: () => void
  /** Called when notices stop arriving until `onSubscribed` is called again. */
  onUnsubscribed?: () => void
}

/**
 * Receives the notices of other processes. Redis may lose a notice, so each listener also polls.
 *
 * @returns a function that ends the subscription
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
      // Without the subscription the connection is useless; a new connection tries again.
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
