import { Gauge } from 'prom-client'
import type { Metrics } from './metrics.js'

/** What a pool of connections tells about itself. */
interface Pool {
  totalCount: number
  idleCount: number
  waitingCount: number
  options: { max: number }
}

/** Metrics of pools of connections to PostgreSQL, read when Prometheus asks. */
export function exposePools({ registry }: Metrics, pools: Record<string, Pool>): void {
  const expose = (name: string, help: string, read: (pool: Pool) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['pool'],
      registers: [registry],
      collect() {
        for (const [pool, of] of Object.entries(pools)) this.set({ pool }, read(of))
      },
    })
  expose('database_pool_busy', 'Connections to PostgreSQL in use.', busyOf)
  expose('database_pool_waiting', 'Queries that wait for a connection.', waitingOf)
  expose('database_pool_size_max', 'Most connections of the pool.', (pool) => pool.options.max)
}

const busyOf = ({ totalCount, idleCount }: Pool) => totalCount - idleCount

/**
 * The pool queues every query for a moment, also the ones that a free connection takes next: those of
 * readiness, which begin just before the metrics are read, would always seem to wait.
 */
const waitingOf = (pool: Pool) => Math.max(0, pool.waitingCount - (pool.options.max - busyOf(pool)))
