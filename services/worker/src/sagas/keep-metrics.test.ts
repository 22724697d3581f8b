import type { Database } from '@switchyard/db'
import type { Logger } from '@switchyard/service-kit/observability'
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { keepMetrics } from './keep-metrics.js'
import { createSagaMetrics } from './metrics.js'

test('while the database is away, one warning is logged', async () => {
  let queries = 0
  const query = async () => {
    queries += 1
    throw new Error('no connection')
  }
  const warnings: string[] = []
  const logger = {
    warn: (_fields: object, message: string) => warnings.push(message),
    debug: () => {},
  } as unknown as Logger
  const database = { pool: { query } } as unknown as Database
  const kept = keepMetrics({ database, metrics: createSagaMetrics(new Registry(), 10), logger, everyMs: 1 })
  await expect.poll(() => queries).toBeGreaterThan(3)
  await kept.stop()
  expect(warnings).toEqual(['could not read the metrics of sagas'])
})
