/**
 * Kinds of expected errors, independent of HTTP and gRPC. Each transport has one table that maps a kind to a
 * status.
 */
export type ErrorKind =
  | 'invalid-parameters'
  | 'invalid'
  | 'unauthenticated'
  | 'insufficient-scope'
  | 'forbidden'
  | 'not-found'
  | 'not-supported'
  | 'conflict'
  | 'unprocessable'
  | 'precondition-failed'
  | 'too-large'
  | 'unsupported-media-type'
  | 'timed-out'
  | 'rate-limited'
  | 'unavailable'
  | 'insufficient-storage'

/** Problems by field name, e.g. `{ color: ['must be a valid color code'] }`. */
export type FieldProblems = Record<string, string[]>

/** One text, problems by field, or the list of problems that GitLab shows for environments. */
export type ErrorDetail = string | readonly string[] | FieldProblems

export interface DomainErrorOptions {
  /** Further keys of the answer, e.g. `{ error_code: 'conflict' }`. */
  extra?: Record<string, unknown>
  /** The underlying error, which is logged and never sent. */
  cause?: unknown
  retryAfterMs?: number
}

/** An expected error. `detail` is sent to the caller, so it must not contain internals. */
export class DomainError extends Error {
  readonly kind: ErrorKind
  readonly detail: ErrorDetail
  readonly extra: Record<string, unknown>
  readonly retryAfterMs: number | undefined

  constructor(kind: ErrorKind, detail: ErrorDetail, options: DomainErrorOptions = {}) {
    super(typeof detail === 'string' ? detail : JSON.stringify(detail), { cause: options.cause })
    this.name = 'DomainError'
    this.kind = kind
    this.detail = detail
    this.extra = options.extra ?? {}
    this.retryAfterMs = options.retryAfterMs
  }
}

/** Returns whether an error is an expected one of these kinds. */
export const isRefusal = (error: unknown, ...kinds: ErrorKind[]): error is DomainError =>
  error instanceof DomainError && kinds.includes(error.kind)

/**
 * Returns the error for parameters that cannot be parsed.
 *
 * @param problems such as `branch is missing`
 */
export const invalidParameters = (problems: string[]) =>
  new DomainError('invalid-parameters', problems.join(', '))

/** Returns the error for a well-formed request that breaks a rule. */
export const invalid = (detail: ErrorDetail, options?: DomainErrorOptions) =>
  new DomainError('invalid', detail, options)

/**
 * Refuses fields with problems.
 *
 * @throws DomainError invalid, when a field has a problem
 */
export function refuseProblems(problems: FieldProblems): void {
  if (Object.keys(problems).length > 0) throw invalid(problems)
}

export const unauthenticated = () => new DomainError('unauthenticated', '')

/** Returns the error for a valid token that has none of these scopes. */
export const insufficientScope = (scopes: readonly string[]) =>
  new DomainError('insufficient-scope', scopes.join(' '))

/**
 * Returns the error for a caller without the right.
 *
 * @param reason such as `You are not allowed to push into this branch`; may be empty
 */
export const forbidden = (reason = '', options?: DomainErrorOptions) =>
  new DomainError('forbidden', reason, options)

/**
 * Returns the error for a missing resource.
 *
 * @param resource type of the missing resource (`Project`, `Commit`, …); empty for a row addressed by its id
 */
export const notFound = (resource = '', options?: DomainErrorOptions) =>
  new DomainError('not-found', resource, options)

/** Returns the error for an operation of GitLab that has nothing to act on here. */
export const notSupported = (detail: string) => new DomainError('not-supported', detail)

export const conflict = (detail: string, options?: DomainErrorOptions) =>
  new DomainError('conflict', detail, options)

/**
 * Returns the error for a well-formed request with a problem for which GitLab's clients expect the status
 * 422.
 */
export const unprocessable = (detail: string, options?: DomainErrorOptions) =>
  new DomainError('unprocessable', detail, options)

/**
 * The condition of a request on the time at which the resource was last changed. Throws precondition-failed.
 */
export type Precondition = (updatedAt: Date) => void

/** Returns the error for a resource whose version is not the one that the request names. */
export const preconditionFailed = () => new DomainError('precondition-failed', '')

/**
 * Refuses a change of a resource that has changed since the caller read it.
 *
 * @param sinceMs whole seconds since 1970, in milliseconds; NaN: no check
 * @throws DomainError precondition-failed
 */
export function requireUnmodifiedSince(changedAt: Date, sinceMs: number): void {
  if (Math.floor(changedAt.getTime() / 1000) * 1000 > sinceMs) throw preconditionFailed()
}

export const tooLarge = (detail: string) => new DomainError('too-large', detail)

/**
 * Returns the error for a request that did not arrive in time.
 *
 * @param reason the part that did not arrive in time; may be empty
 */
export const timedOut = (reason = '') => new DomainError('timed-out', reason)

/**
 * Returns the error for a sender that sends too many requests.
 *
 * @param retryAfterMs time until the next request may be accepted
 */
export const rateLimited = (detail: string, retryAfterMs: number) =>
  new DomainError('rate-limited', detail, { retryAfterMs })

/**
 * Returns the error for a dependency (database, Redis, storage) that does not answer. A later attempt may
 * succeed.
 *
 * @param reason what does not answer, as a clause that users read; may be empty
 */
export const unavailable = (reason: string, options?: DomainErrorOptions) =>
  new DomainError('unavailable', reason, options)

/** Returns the error for a full disk of this installation. */
export const insufficientStorage = (detail: string, options?: DomainErrorOptions) =>
  new DomainError('insufficient-storage', detail, options)
