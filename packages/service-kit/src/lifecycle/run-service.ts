import { ConfigError, loadConfig } from '@switchyard/config'
import type { z } from 'zod'
import {
  createLogger,
  createMetrics,
  type Logger,
  type Metrics,
  startTracing,
} from '../observability/index.js'
import { watchEventLoop } from './event-loop-watchdog.js'
import { exposeHealth, Health } from './health.js'
import { Lifecycle } from './lifecycle.js'

/** Tools that the composition root of a service receives besides the configuration. */
export interface ServiceContext {
  logger: Logger
  metrics: Metrics
  health: Health
  lifecycle: Lifecycle
}

export interface ServiceDefinition<Schema extends z.ZodObject> {
  name: string
  schema: Schema
  /** Opens all resources and starts to serve. Each resource registers its cleanup with the lifecycle. */
  create: (config: z.output<Schema>, context: ServiceContext) => Promise<unknown>
}

/** The settings that every service has. */
type CommonConfig = {
  LOG_LEVEL: string
  SHUTDOWN_TIMEOUT_MS: number
  EVENT_LOOP_STALL_MS: number
  OTEL_EXPORTER_OTLP_ENDPOINT?: string
}

/**
 * Runs a service as this process. Reads the environment, creates the service, serves until SIGTERM or SIGINT,
 * then drains and closes in reverse order. Exits with 0 after a clean stop, 1 after a failure, 2 for a bad
 * environment. A process whose event loop stands still for EVENT_LOOP_STALL_MS is killed.
 */
export async function runService<Schema extends z.ZodObject>(definition: ServiceDefinition<Schema>) {
  const config = readConfig(definition)
  const { LOG_LEVEL, SHUTDOWN_TIMEOUT_MS, EVENT_LOOP_STALL_MS, OTEL_EXPORTER_OTLP_ENDPOINT } =
    config as unknown as CommonConfig
  const context = createServiceContext(definition.name, LOG_LEVEL)
  const { logger } = context

  const stop = async (reason: string, exitCode: number) => {
    logger.info({ reason }, 'stopping')
    context.health.startDraining()
    // A resource that never closes must not keep the process alive.
    setTimeout(() => process.exit(1), SHUTDOWN_TIMEOUT_MS + 2000).unref()
    await context.lifecycle.close()
    process.exit(exitCode)
  }
  process.once('SIGTERM', () => void stop('SIGTERM', 0))
  process.once('SIGINT', () => void stop('SIGINT', 0))
  process.on('uncaughtException', (error) => {
    logger.fatal({ err: error }, 'uncaught exception')
    void stop('uncaught exception', 1)
  })

  try {
    if (EVENT_LOOP_STALL_MS > 0) {
      const watched = { service: definition.name, stallMs: EVENT_LOOP_STALL_MS }
      context.lifecycle.onClose('event loop watchdog', watchEventLoop(watched, logger))
    }
    if (OTEL_EXPORTER_OTLP_ENDPOINT !== undefined) {
      const tracing = await startTracing(definition.name, logger)
      context.lifecycle.onClose('traces', () => tracing.close())
    }
    await definition.create(config, context)
  } catch (error) {
    logger.fatal({ err: error }, 'could not start')
    await stop('could not start', 1)
  }
}

/**
 * Creates the context of a running service. A process runs one service; a test that runs several creates a
 * context for each.
 */
export function createServiceContext(name: string, logLevel: string): ServiceContext {
  const logger = createLogger(name, logLevel)
  const metrics = createMetrics(name)
  const health = new Health()
  exposeHealth(health, metrics)
  return { logger, metrics, health, lifecycle: new Lifecycle(logger) }
}

function readConfig<Schema extends z.ZodObject>({ name, schema }: ServiceDefinition<Schema>) {
  try {
    return loadConfig(name, schema, process.env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(2)
  }
}
