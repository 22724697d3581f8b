import type { Logger } from 'pino'
import type { Tracing } from './open-telemetry.js'

let running: Tracing | undefined

/** Undefined while traces are off. One for the process, because the provider of OpenTelemetry is. */
export const tracing = (): Tracing | undefined => running

/** Sends traces from now on. Nothing of OpenTelemetry is loaded before. */
export async function startTracing(service: string, logger: Logger): Promise<Tracing> {
  const { createTracing } = await import('./open-telemetry.js')
  running = createTracing(service, logger)
  return running
}
