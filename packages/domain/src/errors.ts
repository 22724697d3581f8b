/**
 * Kinds of expected errors, independent of HTTP and gRPC: each transport has one table that maps a kind to a
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

/** Characters of a caller's text that an error repeats. */
const repeatedCharsMax = 200

/** A caller's text as errors repeat it: whole, or its beginning. */
export const excerpt = (text: string): string =>
  text.length <= repeatedCharsMax
    ? text
    : `${text.slice(0, repeatedCharsMax - 1).replace(/\p{Surrogate}/u, '')}…`

/** Whether it is an expected error of one of these kinds. */
export const isRefusal = (error: unknown, ...kinds: ErrorKind[]): error is DomainError =>
  error instanceof DomainError && kinds.includes(error.kind)

/** Parameters cannot be parsed. @param problems such as `branch is missing` */
export const invalidParameters = (problems: string[]) =>
  new DomainError('invalid-parameters', problems.join(', '))

/** A request is well-formed and breaks a rule. */
export const invalid = (detail: ErrorDetail, options?: DomainErrorOptions) =>
  new DomainError('invalid', detail, options)

/** @throws DomainError invalid, when a field has a problem */
export function refuseProblems(problems: FieldProblems): void {
  if (Object.keys(problems).length > 0) throw invalid(problems)
}

export const unauthenticated = () => new DomainError('unauthenticated', '')

/** The token is valid and has none of these scopes. */
export const insufficientScope = (scopes: readonly string[]) =>
  new DomainError('insufficient-scope', scopes.join(' '))

/** @param reason such as `You are not allowed to push into this branch`; may be empty */
export const forbidden = (reason = '', options?: DomainErrorOptions) =>
  new DomainError('forbidden', reason, options)

/**
 * @param resource type of the missing resource (`Project`, `Commit`, …); empty for a row addressed by its id
 */
export const notFound = (resource = '', options?: DomainErrorOptions) =>
  new DomainError('not-found', resource, options)

/** GitLab has this operation, and there is nothing here that it could act on. */
export const notSupported = (detail: string) => new DomainError('not-supported', detail)

export const conflict = (detail: string, options?: DomainErrorOptions) =>
  new DomainError('conflict', detail, options)

/** A request is well-formed, and GitLab's clients expect the status 422 for its problem. */
export const unprocessable = (detail: string, options?: DomainErrorOptions) =>
  new DomainError('unprocessable', detail, options)

/** What a request requires of the time at which the resource was last changed. Throws precondition-failed. */
export type Precondition = (updatedAt: Date) => void

/** The resource is not the version that the precondition of the request names. */
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

/** @param reason which part of the request did not arrive in time; may be empty. */
export const timedOut = (reason = '') => new DomainError('timed-out', reason)

/** @param retryAfterMs time until the next request may be accepted */
export const rateLimited = (detail: string, retryAfterMs: number) =>
  new DomainError('rate-limited', detail, { retryAfterMs })

/**
 * A dependency (database, Redis, storage) does not answer; a later attempt may succeed.
 *
 * @param reason what does not answer, as a clause that users read; may be empty
 */
export const unavailable = (reason: string, options?: DomainErrorOptions) =>
  new DomainError('unavailable', reason, options)

/** A disk of this installation has no room for what the caller sends. */
export const insufficientStorage = (detail: string, options?: DomainErrorOptions) =>
  new DomainError('insufficient-storage', detail, options)
