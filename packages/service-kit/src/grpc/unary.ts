import { DomainError } from '@switchyard/domain'
import type { Logger } from '../observability/index.js'
import { isAbandoned } from './deadline.js'
import { toServiceError } from './errors.js'
import type { UnaryCall, UnaryMethod } from './unary-call.js'

/**
 * Makes a gRPC method of an async function. What it throws becomes the status of the error table; an
 * unexpected failure is logged here, exactly once, with its cause. Work that was left because the caller
 * no longer waits is no failure.
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
        const method = call.getPath()
        if (isGivenUp(error, call)) logger.debug({ method, reason: error.message }, 'call given up')
        else if (!isExpected(error)) logger.error({ err: error, method }, 'call failed')
        answer(toServiceError(error, retryAfterMs))
      },
    )
  }
}

/** A refusal by a rule, which is no news for operators; a neighbour that fails is. */
export const isExpected = (error: unknown): boolean =>
  error instanceof DomainError && error.kind !== 'unavailable'

/** A cause means that a neighbour did fail, which operators are told whether or not somebody still waits. */
const isGivenUp = (error: unknown, call: UnaryCall<unknown>): error is DomainError =>
  error instanceof DomainError &&
  error.kind === 'unavailable' &&
  error.cause === undefined &&
  isAbandoned(call, Date.now())
