import type { handleUnaryCall, ServerUnaryCall } from '@grpc/grpc-js'
import { DomainError } from '@switchyard/domain'
import type { Logger } from '../observability/index.js'
import { toServiceError } from './errors.js'

/**
 * Makes a gRPC method of an async function. What it throws becomes the status of the error table; an
 * unexpected failure is logged here, exactly once, with its cause.
 */
export function unary<Request, Response>(
  handle: (request: Request, call: ServerUnaryCall<Request, Response>) => Promise<Response>,
  logger: Logger,
): handleUnaryCall<Request, Response> {
  return (call, answer) => {
    handle(call.request, call).then(
      (response) => answer(null, response),
      (error: unknown) => {
        const expected = error instanceof DomainError && error.kind !== 'unavailable'
        if (!expected) logger.error({ err: error, method: call.getPath() }, 'call failed')
        answer(toServiceError(error))
      },
    )
  }
}
