import type { handleUnaryCall, ServerUnaryCall } from '@grpc/grpc-js'
import { DomainError } from '@switchyard/domain'
import type { Logger } from '@switchyard/service-kit/observability'
import { isAbandoned } from './deadline.js'
import { failureOf } from './errors.js'
import { requireSize } from './limit-requests.js'

/**
 * Makes a gRPC method of an async function. An error that it throws becomes the status of the error table; an
 * unexpected failure is logged here, exactly once, with its cause. Work that was abandoned because the caller no
 * longer waits is no failure.
 */
export function unary<Request, Response>(
  handle: (request: Request, call: ServerUnaryCall<Request, Response>) => Promise<Response>,
  logger: Logger,
): handleUnaryCall<Request, Response> {
  return (call, answer) => {
    answerTo(handle, call).then(
      (response) => answer(null, response),
      (error: unknown) => {
        const method = call.getPath()
        if (isGivenUp(error, call))
          logger.debug({ method, reason: error.message }, 'the caller no longer waits')
        else if (!isExpected(error)) logger.error({ err: error, method }, 'call failed')
        answer(failureOf(error, call))
      },
    )
  }
}

async function answerTo<Request, Response>(
  handle: (request: Request, call: ServerUnaryCall<Request, Response>) => Promise<Response>,
  call: ServerUnaryCall<Request, Response>,
): Promise<Response> {
  requireSize(call.request)
  return handle(call.request, call)
}

/** Whether an error is a refusal by a rule, which is not logged as an error, and not the failure of a dependency. */
export const isExpected = (error: unknown): boolean =>
  error instanceof DomainError && error.kind !== 'unavailable'

/** An error with a cause is the failure of a dependency. It is logged also when the caller no longer waits. */
const isGivenUp = (error: unknown, call: Parameters<typeof isAbandoned>[0]): error is DomainError =>
  error instanceof DomainError &&
  error.kind === 'unavailable' &&
  error.cause === undefined &&
  isAbandoned(call, Date.now())
