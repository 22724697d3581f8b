/** Reasons why a sign-in is refused. The console has a sentence for each. */
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

/** A refused sign-in. The console shows the reason, and the log has the cause. */
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
 * Returns name, code and message of the error behind a refusal. Its further causes are left out because they
 * may hold tokens.
 */
export function loggedCause({ reason, cause }: SignInRefused) {
  if (!(cause instanceof Error)) return { reason }
  const { name, message } = cause
  return { reason, error: { name, message, code: (cause as { code?: unknown }).code } }
}
