import pTimeout from 'p-timeout'

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
