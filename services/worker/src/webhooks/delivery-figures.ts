import type { Metrics } from '@switchyard/service-kit/observability'
import type { Delivered } from '@switchyard/webhooks'
import { Counter } from 'prom-client'

const targetsMax = 100

/** Counts attempts to deliver by target host; hosts after the first hundred share the label `other`. */
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
  const targets = new Set<string>()
  return ({ scope, host, result }: Pick<Delivered, 'scope' | 'host' | 'result'>) => {
    if (scope === 'project') return ofProjects.inc({ result })
    if (targets.size < targetsMax) targets.add(host)
    attempts.inc({ target: targets.has(host) ? host : 'other', result })
  }
}
