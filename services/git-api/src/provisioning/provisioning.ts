import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '@switchyard/service-kit/observability'

export interface Provisioning {
  /** Rejects until the work is done; for readiness. */
  check(): Promise<void>
  /** Stops trying. */
  close(): Promise<void>
}

const retryMsMin = 250
const retryMsMax = 5000

/**
 * Does work in the background, again and again until it succeeds: a service also starts while its database is down.
 */
export function startProvisioning(work: () => Promise<void>, logger: Logger): Provisioning {
  let state: 'running' | 'failing' | 'done' = 'running'
  const closing = new AbortController()

  async function run(): Promise<void> {
    for (let waitMs = retryMsMin; !closing.signal.aborted; waitMs = Math.min(waitMs * 2, retryMsMax)) {
      try {
        await work()
        state = 'done'
        return
      } catch (error) {
        if (state === 'running') logger.warn({ err: error }, 'cannot provision yet, trying again')
        state = 'failing'
        await delay(waitMs, undefined, { signal: closing.signal }).catch(() => {})
      }
    }
  }

  const running = run()
  return {
    async check() {
      if (state !== 'done') throw new Error('the administrator is not provisioned yet')
    },
    async close() {
      closing.abort()
      await running
    },
  }
}
