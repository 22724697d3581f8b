import { checkDatabase, createDatabase, findCaller, isDatabaseUnavailable } from '@switchyard/db'
import { systemClock } from '@switchyard/domain'
import { createAuthenticate, createHttpApp, listen } from '@switchyard/service-kit/http'
import type { ServiceContext } from '@switchyard/service-kit/lifecycle'
import type { Config } from './config.js'
import { routes } from './routes/index.js'

/** Serves broadcast messages: administrators manage them, everybody may ask which are on now. */
export async function createService(config: Config, { logger, metrics, health, lifecycle }: ServiceContext) {
  const database = createDatabase({
    url: config.DATABASE_URL.reveal(),
    poolSizeMax: config.DATABASE_POOL_SIZE_MAX,
    applicationName: 'admin-broadcast',
  })
  lifecycle.onClose('postgres', () => database.close())
  health.addCheck('postgres', () => checkDatabase(database))

  const app = createHttpApp({
    logger,
    metrics,
    health,
    authenticate: createAuthenticate((hash) => findCaller(database, hash)),
    routes: routes({ database, clock: systemClock }),
    isUnavailable: isDatabaseUnavailable,
    rateLimitPerMinute: config.RATE_LIMIT_PER_MINUTE,
    externalUrl: config.EXTERNAL_URL,
  })
  const server = await listen(app, config.HOST, config.PORT, config.SHUTDOWN_TIMEOUT_MS)
  lifecycle.onClose('http', () => server.close())
  return { port: server.port }
}
