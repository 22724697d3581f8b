import type { Server } from '@grpc/grpc-js'
import type { Health } from '@switchyard/service-kit/lifecycle'
import { HealthImplementation } from 'grpc-health-check'

interface HealthOptions {
  services: readonly { name: string }[]
  health: Health
  /** How often readiness is checked and sent to health watchers. */
  healthIntervalMs?: number
}

/** Publishes readiness as the serving status of `""` and of every service; after `stop` it stays NOT_SERVING. */
export function serveHealth(server: Server, { services, health, healthIntervalMs = 1000 }: HealthOptions) {
  const names = ['', ...services.map(({ name }) => name)]
  const served = new HealthImplementation(Object.fromEntries(names.map((name) => [name, 'NOT_SERVING'])))
  served.addToServer(server)
  let current: 'SERVING' | 'NOT_SERVING' = 'NOT_SERVING'
  const publish = (status: typeof current) => {
    if (status === current) return
    current = status
    for (const name of names) served.setStatus(name, status)
  }
  let stopped = false
  const refresh = async () => {
    const { ready } = await health.readiness()
    if (!stopped) publish(ready ? 'SERVING' : 'NOT_SERVING')
  }
  const timer = setInterval(() => void refresh(), healthIntervalMs)
  void refresh()
  return {
    stop: () => {
      stopped = true
      clearInterval(timer)
      publish('NOT_SERVING')
    },
  }
}
