import type { Database } from '@switchyard/db'
import { openHeaders } from './custom-headers.js'
import { type SecretBox, UnreadableSecret } from './secret-box.js'
import {
  listHeaderKeys,
  listHeadersToEncrypt,
  replaceHeaderValues,
  toStoredHeaders,
} from './store/header-values.js'
import type { RequestSecretsRow } from './store/request-secrets.js'
import {
  countSecretsByKey,
  type EncryptedSecret,
  forgetPreviousSecrets,
  listSecretsToEncrypt,
  replaceSecret,
  type StoredSecret,
  toStoredSecret,
} from './store/secrets.js'

const rowsAtOnce = 100

/**
 * Numbers of encrypted secrets, and of secrets that could not be read because the key is missing or they are
 * damaged.
 */
export interface EncryptionResult {
  encrypted: number
  unreadable: number
}

/**
 * Returns the plain secret of a webhook; null when it has none.
 *
 * @throws UnreadableSecret
 */
export function readSecret(stored: StoredSecret, box: SecretBox): string | null {
  if (stored.plain !== null) return stored.plain
  return stored.encrypted === null ? null : box.decrypt(stored.encrypted)
}

/** The secrets of a webhook for its requests. */
export interface RequestSecrets {
  /** The secret, and the previous one for a day after a change; none: requests are not signed. */
  signing: string[]
  /** Further headers. */
  headers: Record<string, string>
}

/**
 * Decrypts the secrets of a webhook for its requests. A previous secret whose key is missing no longer signs.
 *
 * @throws UnreadableSecret when the current secret or the headers cannot be decrypted
 */
export function readRequestSecrets(row: RequestSecretsRow, box: SecretBox): RequestSecrets {
  const secret = readSecret(toStoredSecret(row), box)
  const headers = openHeaders(toStoredHeaders(row), box).map(({ key, value }) => [key, value])
  return {
    signing: secret === null ? [] : [secret, ...readPreviousSecret(row, box)],
    headers: Object.fromEntries(headers),
  }
}

function readPreviousSecret(row: RequestSecretsRow, box: SecretBox): string[] {
  const { previousSecret: bytes, previousSecretKeyId: keyId } = row
  const text = bytes === null || keyId === null ? null : tryToDecrypt({ bytes, keyId }, box)
  return text === null ? [] : [text]
}

/**
 * Encrypts with the first key every secret that is plain or encrypted with another key. The next run encrypts
 * a secret that changes during this run. Previous secrets are deleted once they no longer sign. The run may
 * be interrupted.
 */
export async function encryptStoredSecrets(
  database: Database,
  box: SecretBox,
  signal: AbortSignal,
): Promise<EncryptionResult> {
  const result = { encrypted: 0, unreadable: 0 }
  await forgetPreviousSecrets(database)
  const [keyId] = box.keyIds
  if (keyId === undefined) return result
  for (let afterId = 0; !signal.aborted; ) {
    const page = await listSecretsToEncrypt(database, { keyId, afterId, rowsMax: rowsAtOnce })
    for (const { id, stored } of page) {
      const replaced = await encryptOne(database, box, id, stored)
      if (replaced === null) result.unreadable += 1
      else if (replaced) result.encrypted += 1
      afterId = id
    }
    if (page.length < rowsAtOnce) break
  }
  await encryptHeaders(database, box, keyId, result, signal)
  return result
}

/** Encrypts the values of further headers in the same way. They are never plain. */
async function encryptHeaders(
  database: Database,
  box: SecretBox,
  keyId: string,
  result: EncryptionResult,
  signal: AbortSignal,
): Promise<void> {
  for (let afterId = 0; !signal.aborted; ) {
    const page = await listHeadersToEncrypt(database, { keyId, afterId, rowsMax: rowsAtOnce })
    for (const { id, values } of page) {
      const text = tryToDecrypt(values, box)
      if (text === null) result.unreadable += 1
      else if (await replaceHeaderValues(database, id, values, box.encrypt(text))) result.encrypted += 1
      afterId = id
    }
    if (page.length < rowsAtOnce) return
  }
}

function tryToDecrypt(encrypted: EncryptedSecret, box: SecretBox): string | null {
  try {
    return box.decrypt(encrypted)
  } catch (error) {
    if (error instanceof UnreadableSecret) return null
    throw error
  }
}

/**
 * Encrypts one secret.
 *
 * @returns null when the secret cannot be decrypted; false when it has changed
 */
async function encryptOne(
  database: Database,
  box: SecretBox,
  id: number,
  stored: StoredSecret,
): Promise<boolean | null> {
  try {
    const secret = readSecret(stored, box)
    return secret === null ? false : await replaceSecret(database, id, stored, box.encrypt(secret))
  } catch (error) {
    if (error instanceof UnreadableSecret) return null
    throw error
  }
}

/** Checks the readiness: rejects while this process cannot decrypt the secret of a webhook. */
export async function checkStoredSecrets(database: Database, box: SecretBox): Promise<void> {
  const [counts, headerKeys] = await Promise.all([
    countSecretsByKey(database),
    listHeaderKeys(database),
  ]).catch((cause: unknown) => {
    throw new Error('the database does not say by which keys secrets of webhooks are encrypted', { cause })
  })
  const used = [...counts.map(({ keyId }) => keyId), ...headerKeys]
  const missing = new Set(used.filter((keyId) => keyId !== null && !box.keyIds.includes(keyId)))
  if (missing.size > 0) {
    const keys = [...missing].join(', ')
    throw new Error(`secrets of webhooks are encrypted with keys that WEBHOOK_SECRET_KEYS lacks: ${keys}`)
  }
  const isPlain = counts.some(({ keyId }) => keyId === null)
  if (isPlain && box.keyIds.length === 0) {
    throw new Error('secrets of webhooks are not encrypted: WEBHOOK_SECRET_KEYS is not set')
  }
}
