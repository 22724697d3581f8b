/** Why nobody was signed in. The console has a sentence for each. */
const refusalReasons = [
  'unavailable',
  'denied',
  'other_browser',
  'not_verified',
  'not_allowed',
  'blocked',
  'no_account',
  'username_taken',
  'email_taken',
  'identity_taken',
] as const

export type RefusalReason = (typeof refusalReasons)[number]

/**
 * A sign-in that did not come about. The person at the browser is shown the reason, and the log has the
 * cause.
 */
export class SignInRefused extends Error {
  readonly reason: RefusalReason

  constructor(reason: RefusalReason, cause?: unknown) {
    super(`the sign-in was refused: ${reason}`, { cause })
    this.name = 'SignInRefused'
    this.reason = reason
  }
}

export const refused = (reason: RefusalReason, cause?: unknown) => new SignInRefused(reason, cause)

/**
 * Name, code and message of the error behind a refusal. Its further causes may hold tokens, which no log line
 * has.
 */
export function loggedCause({ reason, cause }: SignInRefused) {
  if (!(cause instanceof Error)) return { reason }
  const { name, message } = cause
  return { reason, error: { name, message, code: (cause as { code?: unknown }).code } }
}
