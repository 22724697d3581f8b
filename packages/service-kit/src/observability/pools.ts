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
  expose(
    'database_pool_busy',
    'Connections to PostgreSQL in use.',
    (pool) => pool.totalCount - pool.idleCount,
  )
  expose('database_pool_waiting', 'Queries that wait for a connection.', (pool) => pool.waitingCount)
  expose('database_pool_size_max', 'Most connections of the pool.', (pool) => pool.options.max)
}
