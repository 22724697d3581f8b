import { openCallers } from '@switchyard/callers'
import { isDatabaseUnavailable, listUnfinishedBroadcastMessages, openDatabase } from '@switchyard/db'
import { systemClock } from '@switchyard/domain'
import { createHttpApp, createStreamSlots, limitersOfReplicas, listen } from '@switchyard/service-kit/http'
import type { ServiceContext } from '@switchyard/service-kit/lifecycle'
import { exposePools } from '@switchyard/service-kit/observability'
import type { Config } from './config.js'
import { createChangeNotices } from './live/change-notices.js'
import { MessageStreams } from './live/live.js'
import { MessageBoard } from './live/message-board.js'
import { liveRoutes } from './live/routes.js'
import { messageRoutes } from './messages/routes.js'

/**
 * Serves broadcast messages: administrators manage them, everybody may list the active ones and follow their
 * changes. Redis only accelerates notices, so readiness does not depend on it.
 */
export async function createService(config: Config, { logger, metrics, health, lifecycle }: ServiceContext) {
  const database = openDatabase(config, 'admin-broadcast', { health, lifecycle })
  exposePools(metrics, { main: database.pool })

  const clock = systemClock
  const board = new MessageBoard({
    load: (now) => listUnfinishedBroadcastMessages(database, now),
    clock,
    logger,
  })
  lifecycle.onClose('board', () => board.close())
  const changeNotices = createChangeNotices({ redisUrl: config.REDIS_URL.reveal(), board, clock, logger })
  lifecycle.onClose('change notices', () => changeNotices.close())
  const streams = new MessageStreams({ board, metrics })
  const streamSlots = createStreamSlots({
    max: config.BROADCAST_STREAM_CLIENTS_MAX,
    perSenderMax: config.BROADCAST_STREAM_CLIENTS_PER_ADDRESS_MAX,
  })

  const app = createHttpApp({
    logger,
    metrics,
    health,
    ...openCallers(config, { database, logger, lifecycle }),
    routes: [
      // These routes come before those with an id, which would match their names.
      ...liveRoutes({ board, clock, streams, streamSlots }),
      ...messageRoutes({ database, clock, changeNotices }),
    ],
    isUnavailable: isDatabaseUnavailable,
    rateLimitPerMinute: config.RATE_LIMIT_PER_MINUTE,
    createLimiter: limitersOfReplicas({
      redisUrl: config.REDIS_URL.reveal(),
      service: 'admin-broadcast',
      logger,
      lifecycle,
    }),
    corsAllowedOrigins: config.CORS_ALLOWED_ORIGINS,
    externalUrl: config.EXTERNAL_URL,
  })
  const server = await listen(app, config.HOST, config.PORT, config.SHUTDOWN_TIMEOUT_MS)
  lifecycle.onClose('http', () => server.close())
  lifecycle.onClose('streams', () => streams.close())
  return { port: server.port }
}
