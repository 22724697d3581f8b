import {
  ResponderBuilder,
  ServerInterceptingCall,
  type ServerInterceptor,
  ServerListenerBuilder,
  status,
} from '@grpc/grpc-js'
import type { Logger, Metrics } from '../observability/index.js'

const unobserved = ['/grpc.health.v1.Health/', '/grpc.reflection.']

/**
 * Counts and times every call by method and status code; logs those that did not end with OK. Health
 * and reflection calls are left out, and payloads never reach a log line.
 */
export function observe(logger: Logger, metrics: Metrics): ServerInterceptor {
  return (descriptor, call) => {
    const method = descriptor.path
    if (unobserved.some((prefix) => method.startsWith(prefix))) return new ServerInterceptingCall(call)
    const startedNs = process.hrtime.bigint()
    let finished = false
    const finish = (code: string) => {
      if (finished) return
      finished = true
      const seconds = Number(process.hrtime.bigint() - startedNs) / 1e9
      metrics.grpcCalls.inc({ method, code })
      metrics.grpcDuration.observe({ method, code }, seconds)
      if (code !== 'OK') logger.info({ method, code, duration_ms: Math.round(seconds * 1e6) / 1000 }, 'call')
    }
    const listener = new ServerListenerBuilder().withOnCancel(() => finish('CANCELLED')).build()
    const responder = new ResponderBuilder()
      .withStart((next) => next(listener))
      .withSendStatus((result, next) => {
        finish(status[result.code] ?? 'UNKNOWN')
        next(result)
      })
      .build()
    return new ServerInterceptingCall(call, responder)
  }
}
