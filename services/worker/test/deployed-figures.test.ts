import { readFileSync } from 'node:fs'
import { createServiceContext } from '@switchyard/service-kit/lifecycle'
import { expect, it } from 'vitest'
import { createJobFigures } from '../src/queues/job-figures.js'

const deployed = (path: string) => readFileSync(new URL(`../../../deploy/${path}`, import.meta.url), 'utf8')

it.each([
  ['the dashboard shows', 'grafana/job-queues.json'],
  ['the alerts watch', 'prometheus/job-queues.rules.yml'],
])('the worker serves every figure of jobs that %s', async (_who, path) => {
  const { metrics } = createServiceContext('worker', 'silent')
  createJobFigures(metrics, ['mail'])
  const text = await metrics.registry.metrics()
  const names = new Set(deployed(path).match(/\bworker_\w+/g) ?? [])
  expect(names.size).toBeGreaterThan(0)
  for (const name of names) expect(text).toContain(`# TYPE ${name.replace(/_(bucket|sum|count)$/, '')} `)
})
