export { createLogger, type Logger } from './logger.js'
export { createMetrics, type Metrics } from './metrics.js'
export { type Tally, TallyHistogram } from './tally-histogram.js'
