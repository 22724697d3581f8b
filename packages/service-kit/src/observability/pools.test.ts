import { expect, it } from 'vitest'
import { createMetrics } from './metrics.js'
import { exposePools } from './pools.js'

it('the metrics show each pool of connections as it is at that moment', async () => {
  const metrics = createMetrics('tried')
  const main = { totalCount: 5, idleCount: 2, waitingCount: 0, options: { max: 10 } }
  exposePools(metrics, { main })
  const shown = async () =>
    Object.fromEntries(
      [...(await metrics.registry.metrics()).matchAll(/^(database_pool_\w+)\{pool="main".*\} (\d+)$/gm)].map(
        ([, name, value]) => [name, Number(value)],
      ),
    )
  expect(await shown()).toEqual({
    database_pool_busy: 3,
    database_pool_waiting: 0,
    database_pool_size_max: 10,
  })
  Object.assign(main, { totalCount: 10, idleCount: 0, waitingCount: 4 })
  expect(await shown()).toEqual({
    database_pool_busy: 10,
    database_pool_waiting: 4,
    database_pool_size_max: 10,
  })
})

it.each([
  ['a connection is idle', { totalCount: 1, idleCount: 1, waitingCount: 1 }, 0],
  ['a connection can be opened', { totalCount: 2, idleCount: 1, waitingCount: 3 }, 0],
  ['more queries came than connections are free', { totalCount: 9, idleCount: 0, waitingCount: 3 }, 2],
])('a query counts as waiting only when no connection is free for it: %s', async (_when, counts, waiting) => {
  const metrics = createMetrics('tried')
  exposePools(metrics, { main: { ...counts, options: { max: 10 } } })
  expect(await metrics.registry.metrics()).toMatch(
    new RegExp(`^database_pool_waiting\\{pool="main".*\\} ${waiting}$`, 'm'),
  )
})
