import type { Database } from '../../client.js'

/** A secret that only the holder of a key can read. */
export interface EncryptedSecret {
  /** Names the key. */
  keyId: string
  /** What the key's holder needs to decrypt it; its form is not known here. */
  bytes: Uint8Array<ArrayBuffer>
}

/** The secret of a webhook as its row has it. Older versions stored it plain; where both are set, that is the newer. */
export interface StoredSecret {
  plain: string | null
  encrypted: EncryptedSecret | null
}

/** The columns of {@link StoredSecretRow}; the webhook's table is `w`. */
export const secretColumns = `w.secret AS "plainSecret", w.encrypted_secret AS "encryptedSecret",
  w.secret_key_id AS "secretKeyId"`

export interface StoredSecretRow {
  plainSecret: string | null
  encryptedSecret: Buffer<ArrayBuffer> | null
  secretKeyId: string | null
}

export const toStoredSecret = (row: StoredSecretRow): StoredSecret => ({
  plain: row.plainSecret,
  encrypted:
    row.encryptedSecret === null || row.secretKeyId === null
      ? null
      : { keyId: row.secretKeyId, bytes: row.encryptedSecret },
})

/** The columns of a webhook that hold a secret; null: it has none. */
export const toSecretColumns = (secret: EncryptedSecret | null) => ({
  secret: null,
  encryptedSecret: secret?.bytes ?? null,
  secretKeyId: secret?.keyId ?? null,
})

type Pool = Pick<Database, 'pool'>

/** One page of the webhooks, by id, whose secret is plain or encrypted with another key. */
export async function listSecretsToEncrypt(
  { pool }: Pool,
  { keyId, afterId, rowsMax }: { keyId: string; afterId: number; rowsMax: number },
): Promise<{ id: number; stored: StoredSecret }[]> {
  const { rows } = await pool.query<StoredSecretRow & { id: number }>(
    `SELECT w.id, ${secretColumns} FROM webhooks w
     WHERE w.id > $2 AND (w.secret IS NOT NULL OR w.secret_key_id <> $1) ORDER BY w.id LIMIT $3`,
    [keyId, afterId, rowsMax],
  )
  return rows.map((row) => ({ id: row.id, stored: toStoredSecret(row) }))
}

/** @returns false when the secret is not the one it was before, or the webhook is gone */
export async function replaceSecret(
  { pool }: Pool,
  id: number,
  before: StoredSecret,
  { bytes, keyId }: EncryptedSecret,
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `UPDATE webhooks SET secret = NULL, encrypted_secret = $4, secret_key_id = $5
     WHERE id = $1 AND secret IS NOT DISTINCT FROM $2 AND encrypted_secret IS NOT DISTINCT FROM $3`,
    [id, before.plain, before.encrypted?.bytes ?? null, bytes, keyId],
  )
  return (rowCount ?? 0) > 0
}

/** How many webhooks have a secret of each key; null: a plain one. */
export async function countSecretsByKey({
  pool,
}: Pool): Promise<{ keyId: string | null; webhooks: number }[]> {
  const { rows } = await pool.query<{ keyId: string | null; webhooks: number }>(
    `SELECT CASE WHEN secret IS NULL THEN secret_key_id END AS "keyId", count(*)::int AS webhooks
     FROM webhooks WHERE secret IS NOT NULL OR secret_key_id IS NOT NULL GROUP BY 1`,
  )
  return rows
}
