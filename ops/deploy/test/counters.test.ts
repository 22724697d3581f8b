import { afterAll, beforeAll, expect, it } from 'vitest'
import { startGitHarness } from '../../../services/git-api/test/git-harness.js'
import { startHarness as startQueues } from '../../../services/jobqueue-metrics/test/harness.js'
import { startHarness as startReporter } from '../../../services/saga-reporter/test/harness.js'
import { startHarness as startWorkers } from '../../../services/worker/test/harness.js'
import { rules } from './support/alert-rules.js'
import { dashboards } from './support/dashboards.js'
import { metricOf, selectorsOf } from './support/selectors.js'

/**
 * Metrics that exist after the first request, event or delivery, because the rules use them only for shares
 * of traffic.
 */
const sharesOfTraffic = [
  'grpc_server_handled_total',
  'http_requests_total',
  'jobqueue_queue_failed_total',
  'jobqueue_queue_processed_total',
  'project_webhook_deliveries_total',
  'saga_webhook_deliveries_total',
]

const expressions = rules.map(({ expr }) => expr).join('\n')
const counters = [...new Set(expressions.match(/\b\w+_total\b/g))].sort()
/** Counters for which a single increase matters, with the labels that the rule names. */
const increases = [...expressions.matchAll(/increase\((\w+_total)(?:\{([^}]*)\})?\[[^\]]*\]\)/g)]
  .map(([, name = '', labels = '']) => ({ name, labels }))
  .filter(({ name }) => !sharesOfTraffic.includes(name))

let shown = ''
const closing: { close(): Promise<unknown> }[] = []

beforeAll(async () => {
  const workers = await startWorkers()
  const services = [
    await startGitHarness(),
    await workers.startWorker(),
    await startReporter(),
    await startQueues(),
  ]
  closing.push(...services, workers)
  for (const { baseUrl } of services) shown += await (await fetch(`${baseUrl}/metrics`)).text()
})
afterAll(async () => {
  for (const service of closing) await service.close()
})

it('a new process has every counter that a rule names', () => {
  const known = new Set([...shown.matchAll(/^# TYPE (\w+) counter$/gm)].map(([, name]) => name))
  expect(counters.filter((name) => !known.has(name) && !name.startsWith('jobqueue_queue_'))).toEqual([])
})

it('every metric of Switchyard is on a dashboard or watched by a rule', () => {
  const panels = dashboards.flatMap(([, { panels }]) => panels.flatMap(({ targets }) => targets))
  const used = new Set(
    [...panels, ...rules]
      .flatMap(({ expr }) => selectorsOf(expr))
      .map((selector) => metricOf(selector).replace(/_(bucket|sum|count)$/, '')),
  )
  const names = [...shown.matchAll(/^# TYPE (\w+) \w+$/gm)].map(([, name = '']) => name)
  // Metrics of Node and its library are excluded, and a sum under its former name.
  const ours = names.filter((name) => !/^(nodejs|process)_|^pole_sagas_server_failed_sagas$/.test(name))
  expect(ours).toContain('delivery_lead_time_seconds')
  expect(ours.filter((name) => !used.has(name))).toEqual([])
})

it('every counter whose first increase fires an alert starts at 0, with the labels of the rule', () => {
  expect(increases.map(({ name }) => name).sort()).toEqual(
    counters.filter((name) => !sharesOfTraffic.includes(name)),
  )
  for (const { name, labels } of increases) {
    const lines = shown.split('\n').filter((line) => line.startsWith(`${name}{`) && line.includes(labels))
    expect(lines.map((line) => line.slice(line.lastIndexOf(' ')))).toContain(' 0')
  }
})

it('no query waits for a connection while a service is idle, including those of its readiness', () => {
  const waiting = shown.split('\n').filter((line) => line.startsWith('database_pool_waiting{'))
  expect(waiting.length).toBeGreaterThanOrEqual(4)
  for (const line of waiting) expect(line).toMatch(/ 0$/)
})

it('the disk metrics that the rules compare exist, with the same labels', () => {
  const names = [...new Set(expressions.match(/\bgit_api_storage_\w+/g))].sort()
  const labels = names.map((name) => new RegExp(`^${name}(\\{.*\\}) \\d`, 'm').exec(shown)?.[1])
  expect(names).toHaveLength(3)
  expect(labels).toEqual(names.map(() => '{service="git-api"}'))
})
