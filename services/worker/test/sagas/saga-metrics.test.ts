import { setTimeout as delay } from 'node:timers/promises'
import { createDatabase } from '@switchyard/db'
import { createLogger } from '@switchyard/service-kit/observability'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { keepMetrics } from '../../src/sagas/keep-metrics.js'
import { createSagaMetrics } from '../../src/sagas/metrics.js'
import { metricsSweep } from '../../src/sagas/metrics-store.js'
import { silent, startHarness } from '../harness.js'
import { compensated, ended, executed, executing, givenUp, report, started } from '../saga-events.js'

const day = 86_400
const poll = { interval: 200 }
const settings = { SAGA_SWEEP_SECONDS: '1', SAGA_STUCK_AFTER_SECONDS: '600', SAGA_METRIC_SERVICES_MAX: '3' }

let harness: Awaited<ReturnType<typeof startHarness>>
const workers: Awaited<ReturnType<typeof harness.startWorker>>[] = []
beforeAll(async () => {
  harness = await startHarness()
  workers.push(await harness.startWorker(settings), await harness.startWorker(settings))
})
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.close()))
  await harness.close()
})

const names =
  /^(sagas_open|sagas_error|sagas_stuck|activities_overdue|activities_parked|pole_sagas_server_failed_sagas|sagas_ended_total)[ {]/

/** Returns `name{labels} value` of the saga metrics of a worker, without the label of the worker itself. */
async function metricsOf(worker: { baseUrl: string }): Promise<string[]> {
  const text = await (await fetch(`${worker.baseUrl}/metrics`)).text()
  return text
    .split('\n')
    .filter((line) => names.test(line))
    .map((line) => line.replace('{service="worker"}', ''))
    .sort()
}

const all = async () => (await Promise.all(workers.map(metricsOf))).flat().sort()

it('the metrics show in one worker the number of sagas by state', async () => {
  await report(harness.database, [
    [started('lively', 'orders'), 10],
    [started('stuck-1', 'orders'), 700],
    [started('stuck-2', 'stock'), 800],
    [started('failed', 'stock'), 60],
    [executing('failed', 'f'), 60],
    [givenUp('f', 'failed'), 60],
    [started('late', 'orders'), 60],
    [executing('late', 'l', 10), 60],
    [executed('orphan'), 2 * day],
  ])
  await expect
    .poll(all, poll)
    .toEqual([
      'activities_overdue{service="orders"} 1',
      'activities_parked 1',
      'pole_sagas_server_failed_sagas 1',
      'sagas_error{service="stock"} 1',
      'sagas_open{service="orders",status="Started"} 3',
      'sagas_open{service="stock",status="Error"} 1',
      'sagas_open{service="stock",status="Started"} 1',
      'sagas_stuck{service="orders"} 1',
      'sagas_stuck{service="stock"} 1',
    ])
  const text = (
    await Promise.all(workers.map(({ baseUrl }) => fetch(`${baseUrl}/metrics`).then((r) => r.text())))
  ).join()
  const oldest = /^saga_oldest_open_seconds\{service="stock"\} (\d+)/m.exec(text)?.[1]
  expect(Number(oldest)).toBeGreaterThanOrEqual(800)
  expect(Number(oldest)).toBeLessThan(860)
})

it('the metrics count every saga that ends, once, by its outcome', async () => {
  await report(harness.database, [
    [started('s', 'orders'), 3],
    [executing('s', 's-a'), 2],
    [executed('s-a'), 1],
    [ended('s'), 0],
    [started('c', 'orders'), 3],
    [executing('c', 'c-a'), 2],
    [compensated('c-a'), 1],
    [ended('c'), 0],
  ])
  await report(harness.database, [[ended('s', new Date(Date.now() + day * 1000)), 0]])
  await report(harness.database, [[ended('failed'), 0]])
  const counted = async () => (await all()).filter((line) => line.startsWith('sagas_ended_total'))
  await expect
    .poll(counted, poll)
    .toEqual([
      'sagas_ended_total{service="orders",outcome="compensated"} 1',
      'sagas_ended_total{service="orders",outcome="succeeded"} 1',
      'sagas_ended_total{service="stock",outcome="error"} 1',
    ])
  const text = (
    await Promise.all(workers.map(({ baseUrl }) => fetch(`${baseUrl}/metrics`).then((r) => r.text())))
  ).join()
  expect(text).toContain('saga_duration_seconds_bucket{le="1",service="orders",outcome="succeeded"} 0')
  expect(text).toContain('saga_duration_seconds_bucket{le="5",service="orders",outcome="succeeded"} 1')
})

it('the metrics name no more services than allowed', async () => {
  await report(harness.database, [
    [started('n1', 'third'), 1],
    [started('n2', 'fourth'), 1],
    [started('n3', 'fifth'), 1],
  ])
  await expect
    .poll(async () => (await all()).filter((line) => line.includes('"other"')), poll)
    .toEqual(['sagas_open{service="other",status="Started"} 2'])
})

it('the metrics move to another worker when their worker stops, without duplicates', async () => {
  const gauges = async (worker: { baseUrl: string }) =>
    (await metricsOf(worker)).filter((line) => !line.startsWith('sagas_ended_total')).length
  const counts = await Promise.all(workers.map(gauges))
  expect(counts.filter((count) => count > 0)).toHaveLength(1)
  const holder = counts[0] ? 0 : 1
  const [stopped] = workers.splice(holder, 1)
  await stopped?.close()
  await expect.poll(() => gauges(workers[0] as (typeof workers)[0]), poll).toBeGreaterThan(0)
})

it('the metrics disappear when another worker holds the lease', async () => {
  const [worker] = workers as [(typeof workers)[0]]
  await harness.database.pool.query(
    `UPDATE saga_sweeps SET owner = 'somebody else', owned_until = now() + interval '1 minute' WHERE name = '${metricsSweep}'`,
  )
  await expect
    .poll(async () => (await metricsOf(worker)).filter((line) => !line.startsWith('sagas_ended_total')), poll)
    .toEqual([])
})

it('the metrics disappear when the database is unreachable', async () => {
  const registry = new Registry()
  const metrics = createSagaMetrics(registry, 10)
  const database = createDatabase({
    url: harness.environment.DATABASE_URL,
    poolSizeMax: 1,
    applicationName: 'test',
  })
  await harness.database.pool.query(`DELETE FROM saga_sweeps WHERE name = '${metricsSweep}'`)
  await Promise.all(workers.splice(0).map((worker) => worker.close()))
  const kept = keepMetrics({ database, metrics, logger: silent, everyMs: 300 })
  const shown = async () =>
    (await registry.getSingleMetricAsString('activities_parked')).includes('activities_parked 1')
  await expect.poll(shown, poll).toBe(true)
  await database.close()
  await expect.poll(shown, poll).toBe(false)
  await kept.stop()
})

it('while the database is away, its metrics log one warning', async () => {
  const url = 'postgresql://nobody@127.0.0.1:1/none'
  const database = createDatabase({ url, poolSizeMax: 1, applicationName: 'away' })
  const logger = createLogger('test', 'silent')
  const warned = vi.spyOn(logger, 'warn')
  const kept = keepMetrics({ database, metrics: createSagaMetrics(new Registry(), 10), logger, everyMs: 1 })
  await expect.poll(() => warned.mock.calls.length).toBe(1)
  await delay(500)
  await kept.stop()
  await database.close()
  expect(warned).toHaveBeenCalledTimes(1)
})
