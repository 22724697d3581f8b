import { headerColumns, type StoredHeadersRow } from './header-values.js'
import { type StoredSecretRow, secretColumns } from './secrets.js'

/** Columns of {@link RequestSecretsRow} of the table `webhooks w`. */
export const requestSecretColumns = `${secretColumns}, ${headerColumns},
  CASE WHEN w.previous_secret_until > now() THEN w.previous_secret END AS "previousSecret",
  w.previous_secret_key_id AS "previousSecretKeyId"`

/** The stored secrets of a webhook that its requests need. */
export interface RequestSecretsRow extends StoredSecretRow, StoredHeadersRow {
  /** The secret before the last change, for a day after it. */
  previousSecret: Buffer<ArrayBuffer> | null
  previousSecretKeyId: string | null
}
