import type { Metrics } from '@switchyard/service-kit/observability'
import type { Delivered } from '@switchyard/webhooks'
import { Counter } from 'prom-client'
import { createBoundedLabels } from '../bounded-labels.js'

const targetsMax = 100

/** Counts delivery attempts by target host. Hosts after the first hundred share the label `other`. */
export function createDeliveryFigures({ registry }: Pick<Metrics, 'registry'>) {
  const attempts = new Counter({
    name: 'saga_webhook_deliveries_total',
    help: 'Attempts to deliver a webhook of a saga, by target host and result.',
    labelNames: ['target', 'result'],
    registers: [registry],
  })
  const ofProjects = new Counter({
    name: 'project_webhook_deliveries_total',
    help: 'Attempts to deliver a webhook of a project, by result.',
    labelNames: ['result'],
    registers: [registry],
  })
  for (const result of ['succeeded', 'failed', 'given_up']) ofProjects.inc({ result }, 0)
  const labelOf = createBoundedLabels(targetsMax)
  return ({ scope, host, result }: Pick<Delivered, 'scope' | 'host' | 'result'>) => {
    if (scope === 'project') return ofProjects.inc({ result })
    attempts.inc({ target: labelOf(host), result })
  }
}
