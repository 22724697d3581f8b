import { Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { RetryInfo } from '@switchyard/contracts/rpc-error-details'
import { Status } from '@switchyard/contracts/rpc-status'
import { DomainError, type ErrorKind } from '@switchyard/domain'

const codeOf: Record<ErrorKind, status> = {
  'invalid-parameters': status.INVALID_ARGUMENT,
  invalid: status.FAILED_PRECONDITION,
  unauthenticated: status.UNAUTHENTICATED,
  'insufficient-scope': status.PERMISSION_DENIED,
  forbidden: status.PERMISSION_DENIED,
  'not-found': status.NOT_FOUND,
  conflict: status.ABORTED,
  'not-supported': status.UNIMPLEMENTED,
  unprocessable: status.FAILED_PRECONDITION,
  'precondition-failed': status.FAILED_PRECONDITION,
  'too-large': status.RESOURCE_EXHAUSTED,
  'unsupported-media-type': status.INVALID_ARGUMENT,
  'timed-out': status.DEADLINE_EXCEEDED,
  'rate-limited': status.RESOURCE_EXHAUSTED,
  unavailable: status.UNAVAILABLE,
  'insufficient-storage': status.UNAVAILABLE,
}

/**
 * Failures after which the same call may succeed later. A message that is too large stays too large, so its
 * failure is not among them.
 */
const retried: readonly ErrorKind[] = ['rate-limited', 'unavailable']

/** Default delay after which callers are asked to retry. */
const retryAfterMsDefault = 1000

/**
 * Maps every failure to its gRPC status. The text of an unexpected failure is never sent. A status that
 * permits a retry contains its delay, as `google.rpc.RetryInfo` in `grpc-status-details-bin`.
 */
export function toServiceError(error: unknown): ServiceError {
  if (!(error instanceof DomainError)) return serviceError(status.INTERNAL, 'internal error')
  const details = detailsOf(error)
  const failure = serviceError(codeOf[error.kind], details)
  if (retried.includes(error.kind)) {
    const info = encodeRetryInfo(failure.code, details, error.retryAfterMs ?? retryAfterMsDefault)
    failure.metadata.set('grpc-status-details-bin', info)
  }
  return failure
}

/** Encodes a `google.rpc.Status` with the delay before a retry. */
function encodeRetryInfo(code: status, message: string, retryAfterMs: number): Buffer {
  const milliseconds = Math.max(0, Math.ceil(retryAfterMs))
  const retryDelay = {
    seconds: Math.floor(milliseconds / 1000),
    nanos: (milliseconds % 1000) * 1_000_000,
  }
  const typeUrl = 'type.googleapis.com/google.rpc.RetryInfo'
  const value = Buffer.from(RetryInfo.encode({ retryDelay }).finish())
  return Buffer.from(Status.encode({ code, message, details: [{ typeUrl, value }] }).finish())
}

/** Returns the status of a call that has exceeded its deadline. */
export const pastDeadline = (): ServiceError => serviceError(status.DEADLINE_EXCEEDED, 'Deadline exceeded')

function detailsOf({ kind, detail, message }: DomainError): string {
  if (typeof detail !== 'string') return message
  if (kind === 'insufficient-scope') return `the token needs scope ${detail.replaceAll(' ', ' or ')}`
  return detail || kind
}

function serviceError(code: status, details: string): ServiceError {
  // The library cannot encode half of a surrogate pair; the conversion to UTF-8 replaces it by U+FFFD.
  const wellFormed = Buffer.from(details).toString()
  return Object.assign(new Error(wellFormed), { code, details: wellFormed, metadata: new Metadata() })
}
