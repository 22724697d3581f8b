import { ServerInterceptingCall, type ServerInterceptor, status } from '@grpc/grpc-js'
import type { Logger, Metrics } from '@switchyard/service-kit/observability'
import { Counter, Histogram } from 'prom-client'
import { isPastDeadline } from './deadline.js'

const unobserved = ['/grpc.health.v1.Health/', '/grpc.reflection.']
const secondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/**
 * Counts and times every call by method and status code, and logs each that does not end with OK, without its payload.
 * Calls of health and reflection are left out. Only methods that are served come here, so the labels are few.
 */
export function observe(logger: Logger, metrics: Pick<Metrics, 'registry'>): ServerInterceptor {
  const { duration, handled } = createFigures(metrics)
  return ({ path: method }, call) => {
    if (unobserved.some((prefix) => method.startsWith(prefix))) return new ServerInterceptingCall(call)
    const startedMs = performance.now()
    let isOver = false
    const end = (code: string) => {
      if (isOver) return
      isOver = true
      const milliseconds = performance.now() - startedMs
      duration.observe({ method, code }, milliseconds / 1000)
      handled.inc({ method, code })
      if (code !== 'OK')
        logger.info({ method, code, duration_ms: Math.round(milliseconds * 1000) / 1000 }, 'call')
    }
    return new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          // The library calls this at the end of every call, also when it ends a call whose deadline has passed.
          onCancel: () => end(isPastDeadline(call, Date.now()) ? 'DEADLINE_EXCEEDED' : 'CANCELLED'),
        }),
      sendStatus: (result, next) => {
        end(status[result.code ?? status.UNKNOWN] ?? 'UNKNOWN')
        next(result)
      },
    })
  }
}

function createFigures({ registry }: Pick<Metrics, 'registry'>) {
  const registers = [registry]
  const labelNames = ['method', 'code'] as const
  return {
    duration: new Histogram({
      name: 'grpc_server_handling_seconds',
      help: 'Time from the arrival of a gRPC call to its answer.',
      labelNames,
      buckets: secondsBuckets,
      registers,
    }),
    handled: new Counter({
      name: 'grpc_server_handled_total',
      help: 'gRPC calls answered, by status code.',
      labelNames,
      registers,
    }),
  }
}
