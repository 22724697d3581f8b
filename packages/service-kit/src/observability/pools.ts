import { Gauge } from 'prom-client'
import type { Metrics } from './metrics.js'

/** The figures of a pool of connections. */
interface Pool {
  totalCount: number
  idleCount: number
  waitingCount: number
  options: { max: number }
}

/** Exposes pools of connections to PostgreSQL as metrics, which are read when Prometheus asks. */
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
 * Returns the number of queries that wait. The pool queues every query for a moment, even one that a free
 * connection takes next. Without the correction, the queries of readiness would always count, because they
 * begin just before the metrics are read.
 */
const waitingOf = (pool: Pool) => Math.max(0, pool.waitingCount - (pool.options.max - busyOf(pool)))
