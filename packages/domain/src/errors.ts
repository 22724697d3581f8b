/**
 * Refusals the domain can name. They know nothing of HTTP or gRPC: each transport has one table that
 * turns a kind into its status.
 */
export type ErrorKind =
  | 'invalid-parameters'
  | 'invalid'
  | 'unauthenticated'
  | 'insufficient-scope'
  | 'forbidden'
  | 'not-found'
  | 'conflict'
  | 'precondition-failed'
  | 'too-large'
  | 'unsupported-media-type'
  | 'timed-out'
  | 'rate-limited'
  | 'unavailable'

/** Field name → what is wrong with it, e.g. `{ color: ['must be a valid color code'] }`. */
export type FieldProblems = Record<string, string[]>

export interface DomainErrorOptions {
  /** Further keys of the answer that clients may read, e.g. `{ error_code: 'conflict' }`. */
  extra?: Record<string, unknown>
  /** The failure beneath; logged, never sent. */
  cause?: unknown
  /** When trying again may work. */
  retryAfterMs?: number
}

/** An expected refusal. `detail` is sent to the caller, so it must never hold internals. */
export class DomainError extends Error {
  readonly kind: ErrorKind
  readonly detail: string | FieldProblems
  readonly extra: Record<string, unknown>
  readonly retryAfterMs: number | undefined

  constructor(kind: ErrorKind, detail: string | FieldProblems, options: DomainErrorOptions = {}) {
    super(typeof detail === 'string' ? detail : JSON.stringify(detail), { cause: options.cause })
    this.name = 'DomainError'
    this.kind = kind
    this.detail = detail
    this.extra = options.extra ?? {}
    this.retryAfterMs = options.retryAfterMs
  }
}

/** Parameters could not be read; one text per problem, e.g. `branch is missing`. */
export const invalidParameters = (problems: string[]) =>
  new DomainError('invalid-parameters', problems.join(', '))

/** Well-formed, but refused by a rule: one text, or problems by field. */
export const invalid = (detail: string | FieldProblems, options?: DomainErrorOptions) =>
  new DomainError('invalid', detail, options)

export const unauthenticated = () => new DomainError('unauthenticated', '')

/** The token is good but lacks every one of these scopes. */
export const insufficientScope = (scopes: readonly string[]) =>
  new DomainError('insufficient-scope', scopes.join(' '))

/** @param reason says why, e.g. `You are not allowed to push into this branch`; may be empty. */
export const forbidden = (reason = '') => new DomainError('forbidden', reason)

/** @param resource what is missing (`Project`, `Commit`, …); empty for a row addressed by its id. */
export const notFound = (resource = '', options?: DomainErrorOptions) =>
  new DomainError('not-found', resource, options)

export const conflict = (detail: string, options?: DomainErrorOptions) =>
  new DomainError('conflict', detail, options)

/** It was changed since the caller looked at it, which it asked to be told. */
export const preconditionFailed = () => new DomainError('precondition-failed', '')

export const tooLarge = (detail: string) => new DomainError('too-large', detail)

/** @param reason which part of the request did not arrive in time; may be empty. */
export const timedOut = (reason = '') => new DomainError('timed-out', reason)

/** @param retryAfterMs when the next request may be let through */
export const rateLimited = (detail: string, retryAfterMs: number) =>
  new DomainError('rate-limited', detail, { retryAfterMs })

/** A neighbour (database, Redis, storage) does not answer; trying again later may work. */
export const unavailable = (part: string, options?: DomainErrorOptions) =>
  new DomainError('unavailable', part, options)
