import type { Signature } from '@switchyard/domain/commit'

/** The signature of a user who writes a commit now. */
export const signatureOf = ({ name, email }: Pick<Signature, 'name' | 'email'>): Signature => ({
  name,
  email,
  seconds: Math.floor(Date.now() / 1000),
  offsetMinutes: 0,
})
