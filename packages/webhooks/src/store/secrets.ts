import type { DatabaseOrTransaction, Pooled } from '@switchyard/db'

export interface EncryptedSecret {
  keyId: string
  /** Opaque ciphertext. */
  bytes: Uint8Array<ArrayBuffer>
}

/** The stored secret of a webhook, as plain text or encrypted. When both are set, the plain one is newer. */
export interface StoredSecret {
  plain: string | null
  encrypted: EncryptedSecret | null
}

/** Columns of {@link StoredSecretRow} of the table `webhooks w`. */
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

/**
 * Values of the secret columns of a webhook.
 *
 * @param secret null: the webhook has no secret, and a previous one is forgotten
 */
export const toSecretColumns = (secret: EncryptedSecret | null) => ({
  secret: null,
  encryptedSecret: secret?.bytes ?? null,
  secretKeyId: secret?.keyId ?? null,
  ...(secret === null ? { previousSecret: null, previousSecretKeyId: null, previousSecretUntil: null } : {}),
})

/** Finds the secret of a webhook; null when there is no such webhook. */
export async function findSecret(
  { prisma }: DatabaseOrTransaction,
  id: number,
): Promise<StoredSecret | null> {
  const row = await prisma.webhook.findUnique({
    where: { id },
    select: { secret: true, encryptedSecret: true, secretKeyId: true },
  })
  return (
    row &&
    toStoredSecret({
      plainSecret: row.secret,
      encryptedSecret: row.encryptedSecret && Buffer.from(row.encryptedSecret),
      secretKeyId: row.secretKeyId,
    })
  )
}

/** Keeps the current secret of a webhook, which is about to be replaced, as its previous secret for a day. */
export async function keepPreviousSecret(prisma: DatabaseOrTransaction['prisma'], id: number): Promise<void> {
  await prisma.$executeRaw`
    UPDATE webhooks SET previous_secret = encrypted_secret, previous_secret_key_id = secret_key_id,
      previous_secret_until = now() + interval '1 day'
    WHERE id = ${id} AND encrypted_secret IS NOT NULL AND secret IS NULL`
}

/** Lists one page of the webhooks whose secret is plain or encrypted with another key, ordered by id. */
export async function listSecretsToEncrypt(
  { pool }: Pooled,
  { keyId, afterId, rowsMax }: { keyId: string; afterId: number; rowsMax: number },
): Promise<{ id: number; stored: StoredSecret }[]> {
  const { rows } = await pool.query<StoredSecretRow & { id: number }>(
    `SELECT w.id, ${secretColumns} FROM webhooks w
     WHERE w.id > $2 AND (w.secret IS NOT NULL OR w.secret_key_id <> $1) ORDER BY w.id LIMIT $3`,
    [keyId, afterId, rowsMax],
  )
  return rows.map((row) => ({ id: row.id, stored: toStoredSecret(row) }))
}

/**
 * Replaces a secret.
 *
 * @returns false when the secret has changed or the webhook was deleted
 */
export async function replaceSecret(
  { pool }: Pooled,
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

/** Counts the webhooks with a secret by key; null: plain secrets. */
export async function countSecretsByKey({
  pool,
}: Pooled): Promise<{ keyId: string | null; webhooks: number }[]> {
  const { rows } = await pool.query<{ keyId: string | null; webhooks: number }>(
    `SELECT CASE WHEN secret IS NULL THEN secret_key_id END AS "keyId", count(*)::int AS webhooks
     FROM webhooks WHERE secret IS NOT NULL OR secret_key_id IS NOT NULL GROUP BY 1`,
  )
  return rows
}

/** Deletes previous secrets that no longer sign. */
export async function forgetPreviousSecrets({ pool }: Pooled): Promise<void> {
  await pool.query(
    `UPDATE webhooks SET previous_secret = NULL, previous_secret_key_id = NULL, previous_secret_until = NULL
     WHERE previous_secret_until <= now()`,
  )
}
