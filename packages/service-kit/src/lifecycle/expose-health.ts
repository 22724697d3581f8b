import { Gauge } from 'prom-client'
import type { Metrics } from '../observability/index.js'
import type { Health } from './health.js'

/** Shows what readiness says as figures, asked when Prometheus asks. */
export function exposeHealth(health: Health, { registry }: Metrics): void {
  new Gauge({
    name: 'service_check_up',
    help: '1 when the part that the service needs answers, else 0.',
    labelNames: ['check'],
    registers: [registry],
    async collect() {
      const { checks } = await health.readiness()
      this.reset()
      for (const [check, result] of Object.entries(checks)) this.set({ check }, result === 'ok' ? 1 : 0)
    },
  })
}
