import type { Database } from '@switchyard/db'
import { systemClock } from '@switchyard/domain'
import { type Repeated, repeat } from '@switchyard/service-kit/lifecycle'
import type { Logger, Metrics } from '@switchyard/service-kit/observability'
import { Gauge } from 'prom-client'
import { type Metric, metrics, readLatestOfProjects } from './delivery-metrics.js'

const pauseMs = 5 * 60_000

const described: Record<Metric, { name: string; help: string }> = {
  deployment_frequency: {
    name: 'delivery_deployments',
    help: 'Successful deployments to production in the last four weeks.',
  },
  lead_time_for_changes: {
    name: 'delivery_lead_time_seconds',
    help: 'Median time from the author date of a commit to production, in the last four weeks.',
  },
  time_to_restore_service: {
    name: 'delivery_time_to_restore_seconds',
    help: 'Median time that a failure by a deployment to production lasted, in the last four weeks.',
  },
  change_failure_rate: {
    name: 'delivery_change_failure_ratio',
    help: 'Share of failures among deployments to production in the last four weeks.',
  },
}

interface Dependencies {
  database: Database
  metrics: Metrics
  logger: Logger
}

/** Exports the four delivery metrics by project as gauges. Every process exports the same values. */
export function startShowingDelivery({ database, metrics: { registry }, logger }: Dependencies): Repeated {
  const gauges = metrics.map((metric) => {
    const gauge = new Gauge({ ...described[metric], labelNames: ['project'], registers: [registry] })
    return { metric, gauge }
  })
  return repeat(
    async () => {
      const projects = await readLatestOfProjects(database, systemClock())
      for (const { metric, gauge } of gauges) {
        gauge.reset()
        for (const [project, values] of projects) {
          const value = values[metric]
          if (value !== null) gauge.set({ project }, value)
        }
      }
    },
    pauseMs,
    (err) => {
      for (const { gauge } of gauges) gauge.reset()
      logger.warn({ err }, 'could not read the figures of deliveries; trying again in 5 minutes')
    },
  )
}
