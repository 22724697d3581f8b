import { Secret } from '@switchyard/config'
import type { Clock } from '@switchyard/domain'
import { createOutageLog, type Logger } from '@switchyard/service-kit/observability'
import type { SourceConfig } from '../source-config.js'
import { createBullmqSource } from './bullmq/bullmq-source.js'
import { openRedis } from './redis/open-redis.js'
import { createSidekiqSource } from './sidekiq/sidekiq-source.js'
import type { JobSource } from './sources.js'

/**
 * URL of sources with listed servers but without a URL: no user, no password, database 0, no TLS. Those of
 * REDIS_URL belong to another server.
 */
const urlOfListedServers = new Secret('redis://listed')

export interface OpenSourcesOptions {
  sources: SourceConfig[]
  /** URL for sources whose configuration names no server. */
  redisUrl: Secret
  timeoutMs: number
  clock: Clock
  logger: Logger
}

/**
 * Connects to every source.
 *
 * @throws Error when a certificate cannot be read
 */
export function openSources(options: OpenSourcesOptions): JobSource[] {
  return options.sources.map((config) => {
    const logger = options.logger.child({ source: config.name })
    const redis = openRedis({
      connection: { ...config, url: urlOf(config, options.redisUrl) },
      timeoutMs: options.timeoutMs,
      ...logOutages(logger),
    })
    return config.kind === 'sidekiq'
      ? createSidekiqSource(config, redis, options.clock)
      : createBullmqSource(config, redis, options.clock, logger)
  })
}

const urlOf = ({ url, cluster, sentinel }: SourceConfig, redisUrl: Secret): Secret =>
  url ?? (cluster || sentinel ? urlOfListedServers : redisUrl)

/** Returns handlers that log outages, by the message only, because the error may contain the password. */
function logOutages(logger: Logger) {
  const outage = createOutageLog(logger, {
    lost: 'the source is unreachable',
    back: 'the source is reachable again',
  })
  return {
    onError: ({ message }: Error) => outage.failed({ reason: message }),
    onReady: () => outage.worked(),
  }
}
