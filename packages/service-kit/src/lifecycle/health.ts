import pTimeout from 'p-timeout'
import { Gauge } from 'prom-client'
import type { Metrics } from '../observability/index.js'

/** Rejects while its part cannot be used; the message of the error is for operators and holds no secrets. */
export type HealthCheck = () => Promise<unknown>

export interface Readiness {
  ready: boolean
  /** `ok`, or why the part is not ready. */
  checks: Record<string, string>
}

const checkTimeoutMs = 2000

/** Decides whether this process should get requests: it is not draining, and each part it needs answers. */
export class Health {
  readonly #checks = new Map<string, HealthCheck>()
  #draining = false

  /** @param part the name shown by readiness, e.g. `postgres` */
  addCheck(part: string, check: HealthCheck): void {
    this.#checks.set(part, check)
  }

  /** From now on not ready: load balancers stop sending. */
  startDraining(): void {
    this.#draining = true
  }

  /** Asks every part at once; one that does not answer within two seconds counts as failed. */
  async readiness(): Promise<Readiness> {
    const results = await Promise.all(
      [...this.#checks].map(async ([part, check]) => [part, await outcome(check)] as const),
    )
    const checks = Object.fromEntries(results)
    if (this.#draining) checks.process = 'shutting down'
    return { ready: Object.values(checks).every((result) => result === 'ok'), checks }
  }
}

async function outcome(check: HealthCheck): Promise<string> {
  try {
    await pTimeout(check(), {
      milliseconds: checkTimeoutMs,
      message: `no answer within ${checkTimeoutMs} ms`,
    })
    return 'ok'
  } catch (error) {
    return error instanceof Error && error.message ? error.message : 'failed'
  }
}

/** Shows what readiness says as metrics, asked when Prometheus asks. */
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
