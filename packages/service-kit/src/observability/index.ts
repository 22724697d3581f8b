export { createLogger, type Logger } from './logger.js'
export { createMetrics, type Metrics, secondsBuckets } from './metrics.js'
export { exposePools } from './pools.js'
export { startTracing, tracing } from './tracing.js'
