import pTimeout from 'p-timeout'
import { Gauge } from 'prom-client'
import type { Metrics } from '../observability/index.js'

/**
 * A check that rejects while its part cannot be used. The message of the error is for operators and contains
 * no secrets.
 */
export type HealthCheck = () => Promise<unknown>

export interface Readiness {
  ready: boolean
  /** `ok`, or the reason why the part is not ready, by part. */
  checks: Record<string, string>
}

const checkTimeoutMs = 2000

/**
 * The readiness of this process: it should receive requests while it is not draining and while each part that
 * it needs answers.
 */
export class Health {
  readonly #checks = new Map<string, HealthCheck>()
  #draining = false

  /**
   * Adds a check.
   *
   * @param part the name shown by readiness, e.g. `postgres`
   */
  addCheck(part: string, check: HealthCheck): void {
    this.#checks.set(part, check)
  }

  /** Makes the process not ready, so that load balancers stop sending requests. */
  startDraining(): void {
    this.#draining = true
  }

  /** Checks every part at once. A part that does not answer within two seconds counts as failed. */
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

/** Exposes the readiness as metrics, which are read when Prometheus asks. */
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
