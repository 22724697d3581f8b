import type { Pooled, PrismaTransaction } from '@switchyard/db'
import { lockRow } from '@switchyard/db/sql'
import type { EncryptedSecret } from './secrets.js'

/** Further headers of the requests of a webhook. */
export interface StoredHeaders {
  names: string[]
  /** A JSON list of the values, encrypted; null without headers. */
  values: EncryptedSecret | null
}

/** Columns of {@link StoredHeadersRow} of the table `webhooks w`. */
export const headerColumns = `w.header_names AS "headerNames", w.encrypted_headers AS "encryptedHeaders",
  w.headers_key_id AS "headersKeyId"`

export interface StoredHeadersRow {
  headerNames: string[]
  encryptedHeaders: Buffer<ArrayBuffer> | null
  headersKeyId: string | null
}

const toValues = (
  bytes: StoredHeadersRow['encryptedHeaders'],
  keyId: string | null,
): EncryptedSecret | null => (bytes === null || keyId === null ? null : { keyId, bytes })

export const toStoredHeaders = (row: StoredHeadersRow): StoredHeaders => ({
  names: row.headerNames,
  values: toValues(row.encryptedHeaders, row.headersKeyId),
})

export const toHeaderColumns = ({ names, values }: StoredHeaders) => ({
  headerNames: names,
  encryptedHeaders: values?.bytes ?? null,
  headersKeyId: values?.keyId ?? null,
})

/**
 * Locks and reads the further headers of a webhook until the transaction ends; null without such a webhook.
 */
export async function lockHeaders(transaction: PrismaTransaction, id: number): Promise<StoredHeaders | null> {
  const row = await lockRow<StoredHeadersRow>(
    transaction,
    'webhooks w',
    { id },
    'NO KEY UPDATE',
    headerColumns,
  )
  return row ? toStoredHeaders(row) : null
}

/**
 * Lists one page of the values of headers that are encrypted with another key, ordered by the id of the
 * webhook.
 */
export async function listHeadersToEncrypt(
  { pool }: Pooled,
  { keyId, afterId, rowsMax }: { keyId: string; afterId: number; rowsMax: number },
): Promise<{ id: number; values: EncryptedSecret }[]> {
  const { rows } = await pool.query<{ id: number; bytes: Buffer<ArrayBuffer>; keyId: string }>(
    `SELECT id, encrypted_headers AS bytes, headers_key_id AS "keyId" FROM webhooks
     WHERE id > $2 AND headers_key_id <> $1 ORDER BY id LIMIT $3`,
    [keyId, afterId, rowsMax],
  )
  return rows.map(({ id, ...values }) => ({ id, values }))
}

/**
 * Replaces the values of headers.
 *
 * @returns false when the headers have changed or the webhook was deleted
 */
export async function replaceHeaderValues(
  { pool }: Pooled,
  id: number,
  before: EncryptedSecret,
  { bytes, keyId }: EncryptedSecret,
): Promise<boolean> {
  const { rowCount } = await pool.query(
    'UPDATE webhooks SET encrypted_headers = $3, headers_key_id = $4 WHERE id = $1 AND encrypted_headers = $2',
    [id, before.bytes, bytes, keyId],
  )
  return (rowCount ?? 0) > 0
}

/** Lists the ids of the keys that encrypt values of headers. */
export async function listHeaderKeys({ pool }: Pooled): Promise<string[]> {
  const { rows } = await pool.query<{ keyId: string }>(
    'SELECT DISTINCT headers_key_id AS "keyId" FROM webhooks WHERE headers_key_id IS NOT NULL',
  )
  return rows.map(({ keyId }) => keyId)
}
