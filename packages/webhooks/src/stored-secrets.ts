import type { Database } from '@switchyard/db'
import { type SecretBox, UnreadableSecret } from './secret-box.js'
import type { ClaimedDelivery } from './store/delivery-attempts.js'
import { listHeaderKeys, listHeadersToEncrypt, replaceHeaderValues } from './store/header-values.js'
import {
  countSecretsByKey,
  type EncryptedSecret,
  forgetPreviousSecrets,
  listSecretsToEncrypt,
  replaceSecret,
  type StoredSecret,
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

/** The plain secret of a webhook; null when it has none. @throws UnreadableSecret */
export function readSecret(stored: StoredSecret, box: SecretBox): string | null {
  if (stored.plain !== null) return stored.plain
  return stored.encrypted === null ? null : box.decrypt(stored.encrypted)
}

/**
 * The secrets that sign a delivery, the newest first. A previous one whose key is left out signs no more.
 *
 * @throws UnreadableSecret when the present one cannot be read
 */
export function readSigningSecrets(
  { secret, previousSecret }: Pick<ClaimedDelivery, 'secret' | 'previousSecret'>,
  box: SecretBox,
): string[] {
  const present = readSecret(secret, box)
  if (present === null) return []
  try {
    return previousSecret === null ? [present] : [present, box.decrypt(previousSecret)]
  } catch (error) {
    if (error instanceof UnreadableSecret) return [present]
    throw error
  }
}

/**
 * Encrypts with the first key every secret that is plain or encrypted with another key. A secret that changes
 * during the run is left to the next run. Previous secrets are forgotten once they sign no more. The run may
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

/** The same for the values of further headers, which are never plain. */
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

/** @returns null when the secret cannot be read; false when it has changed */
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

/** A readiness check: rejects while this process cannot read the secret of a webhook. */
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
