import { expect, it } from 'vitest'
import { createMetrics } from './metrics.js'
import { exposePools } from './pools.js'

it('each pool of connections is shown as it is at each look', async () => {
  const metrics = createMetrics('tried')
  const main = { totalCount: 5, idleCount: 2, waitingCount: 0, options: { max: 10 } }
  exposePools(metrics, { main })
  const shown = async () =>
    Object.fromEntries(
      [...(await metrics.registry.metrics()).matchAll(/^(database_pool_\w+)\{pool="main".*\} (\d+)$/gm)].map(
        ([, name, value]) => [name, Number(value)],
      ),
    )
  const idle = { database_pool_busy: 3, database_pool_waiting: 0, database_pool_size_max: 10 }
  expect(await shown()).toEqual(idle)
  main.waitingCount = 4
  expect(await shown()).toEqual({ ...idle, database_pool_waiting: 4 })
})
