import type { Logger } from 'pino'
import type { Tracing } from './open-telemetry.js'

let running: Tracing | undefined

/**
 * Returns the tracing of the process; undefined while traces are off. There is one for the process, because
 * the provider of OpenTelemetry is global.
 */
export const tracing = (): Tracing | undefined => running

/** Starts to send traces. Nothing of OpenTelemetry is loaded before. */
export async function startTracing(service: string, logger: Logger): Promise<Tracing> {
  const { createTracing } = await import('./open-telemetry.js')
  running = createTracing(service, logger)
  return running
}
