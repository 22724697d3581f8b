import { z } from 'zod'
import type { SignatureKind } from '../repository-views.js'

const unverified = { verification_status: z.literal('unverified'), commit_source: z.literal('gitaly') }

export const signatureShape = z
  .discriminatedUnion('signature_type', [
    z.object({
      signature_type: z.literal('PGP'),
      ...unverified,
      gpg_key_id: z.null(),
      gpg_key_primary_keyid: z.null(),
      gpg_key_user_name: z.null(),
      gpg_key_user_email: z.null(),
      gpg_key_subkey_id: z.null(),
    }),
    z.object({ signature_type: z.literal('SSH'), ...unverified, key: z.null() }),
    z.object({ signature_type: z.literal('X509'), ...unverified, x509_certificate: z.null() }),
  ])
  .meta({
    id: 'Signature',
    description: 'The kind of a signature; keys are not known, so nothing is verified',
  })

const keysOf = {
  PGP: {
    gpg_key_id: null,
    gpg_key_primary_keyid: null,
    gpg_key_user_name: null,
    gpg_key_user_email: null,
    gpg_key_subkey_id: null,
  },
  SSH: { key: null },
  X509: { x509_certificate: null },
}

/** A signature in GitLab's shape. */
export const presentSignature = (kind: SignatureKind) => ({
  signature_type: kind,
  verification_status: 'unverified' as const,
  commit_source: 'gitaly' as const,
  ...keysOf[kind],
})
