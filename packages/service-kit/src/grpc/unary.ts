import { DomainError } from '@switchyard/domain'
import type { Logger } from '../observability/index.js'
import { toServiceError } from './errors.js'
import type { UnaryCall, UnaryMethod } from './unary-call.js'

/**
 * Makes a gRPC method of an async function. What it throws becomes the status of the error table; an
 * unexpected failure is logged here, exactly once, with its cause.
 *
 * @param retryAfterMs what callers are asked to wait after a failure that waiting may cure
 */
export function unary<Request, Response>(
  handle: (request: Request, call: UnaryCall<Request>) => Promise<Response>,
  logger: Logger,
  retryAfterMs?: number,
): UnaryMethod<Request, Response> {
  return (call, answer) => {
    handle(call.request, call).then(
      (response) => answer(null, response),
      (error: unknown) => {
        if (!isExpected(error)) logger.error({ err: error, method: call.getPath() }, 'call failed')
        answer(toServiceError(error, retryAfterMs))
      },
    )
  }
}

/** A refusal by a rule, which is no news for operators; a neighbour that fails is. */
export const isExpected = (error: unknown): boolean =>
  error instanceof DomainError && error.kind !== 'unavailable'
