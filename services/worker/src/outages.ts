import type { Logger } from '@switchyard/service-kit/observability'

/** Logs the begin and the end of an outage of Redis, not every attempt to reconnect. */
export function reportOutages(logger: Logger) {
  let away = false
  return {
    failed(error: Error) {
      if (!away) logger.warn({ err: error }, 'Redis is away: no jobs are run until it is back')
      away = true
    },
    over() {
      if (away) logger.info('Redis is back')
      away = false
    },
  }
}
