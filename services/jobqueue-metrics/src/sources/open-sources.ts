import type { Clock } from '@switchyard/domain'
import type { Secret } from '@switchyard/service-kit/config'
import type { Logger } from '@switchyard/service-kit/observability'
import { createBullmqSource } from './bullmq/bullmq-source.js'
import type { JobSource } from './job-source.js'
import { openRedis } from './redis/open-redis.js'
import { createSidekiqSource } from './sidekiq/sidekiq-source.js'
import type { SourceConfig } from './source-config.js'

export interface OpenSourcesOptions {
  sources: SourceConfig[]
  /** For sources that name no Redis of their own. */
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
      connection: { ...config, url: config.url ?? options.redisUrl },
      timeoutMs: options.timeoutMs,
      // Requests and figures tell of an outage; every attempt to reconnect would tell of it again.
      onError: (error) => logger.debug({ err: error }, 'the source is away'),
    })
    return config.kind === 'sidekiq'
      ? createSidekiqSource(config, redis, options.clock)
      : createBullmqSource(config, redis, options.clock, logger)
  })
}
