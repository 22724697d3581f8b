import { readFileSync } from 'node:fs'
import { Queue } from 'bullmq'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startHarness } from './harness.js'
import { loadSidekiqDump } from './support/load-dump.js'

let harness: Awaited<ReturnType<typeof startHarness>>
beforeAll(async () => {
  harness = await startHarness(() => ({
    JOBQUEUE_SOURCES: JSON.stringify([
      { name: 'mails', kind: 'bullmq', queues: ['mail'] },
      { name: 'rails', kind: 'sidekiq' },
    ]),
  }))
  await loadSidekiqDump(harness.redis, '7.3.9')
})
afterAll(() => harness.close())

const scrape = async () => (await fetch(`${harness.baseUrl}/metrics`)).text()

/** Returns the value of a series; its labels are as served, without the label of the service. */
const seriesValue = (text: string, series: string) => {
  const line = text
    .split('\n')
    .find((each) => each.replace(/,?service="[\w-]+",?/, '').startsWith(`${series} `))
  return line === undefined ? null : Number(line.split(' ').at(-1))
}

it('metrics of the sources are current, and totals are counters', async () => {
  const queue = new Queue('mail', { connection: { path: harness.testRedis.path } })
  await queue.add('job', {}, { timestamp: Date.now() - 20_100 })
  await queue.pause()
  const text = await scrape()
  const values = Object.fromEntries(
    [
      'jobqueue_queue_backlog{source="mails",queue="mail"}',
      'jobqueue_queue_latency_seconds{source="mails",queue="mail"}',
      'jobqueue_queue_paused{source="mails",queue="mail"}',
      'jobqueue_queue_backlog{source="rails",queue="unserved"}',
      'jobqueue_queue_processes{source="rails",queue="critical"}',
      'jobqueue_queue_busy{source="rails",queue="critical"}',
      'jobqueue_processed_total{source="rails"}',
      'jobqueue_failed_total{source="rails"}',
      'jobqueue_processes{source="rails"}',
      'jobqueue_concurrency{source="rails"}',
      'jobqueue_busy{source="rails"}',
      'jobqueue_dead{source="rails"}',
      'jobqueue_retry{source="rails"}',
      'jobqueue_scheduled{source="rails"}',
    ].map((series) => [series, seriesValue(text, series)]),
  )
  const age = values['jobqueue_queue_latency_seconds{source="mails",queue="mail"}'] ?? 0
  expect(Math.abs(age - 22)).toBeLessThan(3)
  expect(Object.values(values)).toEqual([1, age, 1, 3, 1, null, 8, 3, 1, 5, 3, 1, 1, 1])
  expect(text).toContain('# TYPE jobqueue_processed_total counter')
  expect(text).toContain('# TYPE jobqueue_queue_failed_total counter')
  await harness.redis.incrby('stat:processed', 5)
  expect(seriesValue(await scrape(), 'jobqueue_processed_total{source="rails"}')).toBe(13)
  await queue.close()
})

it('totals of a source that counts only kept jobs are left out, because they would fall', async () => {
  const finished = 'jobqueue_processed_total{source="mails"}'
  expect(seriesValue(await scrape(), finished)).toBe(0)
  await harness.redis.zadd('bull:mail:completed', Date.now(), '1')
  expect(seriesValue(await scrape(), finished)).toBeNull()
  expect(seriesValue(await scrape(), 'jobqueue_processed_total{source="rails"}')).toBeGreaterThan(0)
  await harness.redis.del('bull:mail:completed')
})

/** Returns the names that Prometheus stores for the served metrics. */
async function servedNames(): Promise<Set<string>> {
  const types = [...(await scrape()).matchAll(/^# TYPE (\S+) (\S+)$/gm)]
  return new Set(
    types.flatMap(([, name = '', type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  )
}

const deployed = (path: string) =>
  readFileSync(new URL(`../../../ops/deploy/${path}`, import.meta.url), 'utf8')
/** Metrics of the worker are checked in the worker's own tests. */
const namesIn = (expression: string) => expression.match(/\bjobqueue_\w+/g) ?? []
const ofWorker = (expression: string) => /\bworker_/.test(expression)

it('metrics have every name that the dashboard shows', async () => {
  const dashboard = JSON.parse(deployed('grafana/job-queues.json')) as {
    panels: { id: number; title: string; targets: { expr: string }[] }[]
    templating: { list: { query: string }[] }
  }
  const expressions = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
  const names = [...expressions, ...dashboard.templating.list.map(({ query }) => query)].flatMap(namesIn)
  const served = await servedNames()
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
  expect(expressions.every((expression) => namesIn(expression).length > 0 || ofWorker(expression))).toBe(true)
  expect(names.filter((name) => !served.has(name))).toEqual([])
  expect([...served].filter((name) => /^jobqueue_(?!snapshot)/.test(name) && !names.includes(name))).toEqual(
    [],
  )
})
