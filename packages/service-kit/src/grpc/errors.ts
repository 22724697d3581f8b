import { Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { DomainError, type ErrorKind } from '@switchyard/domain'

const codeOf: Record<ErrorKind, status> = {
  'invalid-parameters': status.INVALID_ARGUMENT,
  invalid: status.FAILED_PRECONDITION,
  unauthenticated: status.UNAUTHENTICATED,
  'insufficient-scope': status.PERMISSION_DENIED,
  forbidden: status.PERMISSION_DENIED,
  'not-found': status.NOT_FOUND,
  conflict: status.ABORTED,
  'too-large': status.RESOURCE_EXHAUSTED,
  'unsupported-media-type': status.INVALID_ARGUMENT,
  'rate-limited': status.RESOURCE_EXHAUSTED,
  unavailable: status.UNAVAILABLE,
}

/** The one table from failures to gRPC statuses. An unexpected failure shows nothing of itself. */
export function toServiceError(error: unknown): ServiceError {
  if (error instanceof DomainError) {
    const details = typeof error.detail === 'string' ? error.detail || error.kind : error.message
    return serviceError(codeOf[error.kind], details)
  }
  return serviceError(status.INTERNAL, 'internal error')
}

function serviceError(code: status, details: string): ServiceError {
  return Object.assign(new Error(details), { code, details, metadata: new Metadata() })
}
