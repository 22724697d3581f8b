import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { type Secret, secretField } from '@switchyard/config'
import { listedEntries, unavailable } from '@switchyard/domain'
import { z } from 'zod'
import type { EncryptedSecret } from './store/secrets.js'

/**
 * The error of a secret that cannot be decrypted. The message is for operators and contains no part of the
 * secret.
 */
export class UnreadableSecret extends Error {}

/** The encryption of webhook secrets, which keeps readers of the database or of a backup from using them. */
export interface SecretBox {
  /** Ids of the keys. The first key encrypts, all keys decrypt. Empty when no key is configured. */
  keyIds: readonly string[]
  /**
   * Encrypts a secret.
   *
   * @throws DomainError unavailable without a key
   */
  encrypt(secret: string): EncryptedSecret
  /**
   * Decrypts a secret.
   *
   * @throws UnreadableSecret when the key is missing or the ciphertext is damaged
   */
  decrypt(encrypted: EncryptedSecret): string
}

const keysName = 'WEBHOOK_SECRET_KEYS'
const algorithm = 'aes-256-gcm'
const keyBytes = 32
const nonceBytes = 12
const tagBytes = 16

/** Configuration of every service that stores or sends webhooks; spread into the service's own schema. */
export const webhookSecretFields = {
  [keysName]: secretField(
    z
      .string()
      .refine(
        (list) => listedEntries(list).every((key) => decode(key) !== null),
        'must be keys of 32 bytes in base64, separated by commas',
      ),
  )
    .optional()
    .describe(
      'Keys that encrypt the [secrets of webhooks](webhooks.md#secrets): 32 bytes in base64 each, separated by commas. The first encrypts, each decrypts. Unset: no webhook can have a secret',
    ),
}

/**
 * Creates the encryption.
 *
 * @throws Error for a list that {@link webhookSecretFields} refuses
 */
export function createSecretBox(config: { [keysName]?: Secret | undefined }): SecretBox {
  const keys = new Map(
    listedEntries(config[keysName]?.reveal() ?? '')
      .map(decodeOrThrow)
      .map(withId),
  )
  const keyIds = [...keys.keys()]
  return {
    keyIds,
    encrypt(secret) {
      const [keyId] = keyIds
      const key = keyId === undefined ? undefined : keys.get(keyId)
      if (keyId === undefined || key === undefined) throw unavailable(`${keysName} is not set`)
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes })
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
      return { keyId, bytes: new Uint8Array(Buffer.concat([nonce, cipher.getAuthTag(), text])) }
    },
    decrypt({ keyId, bytes }) {
      const key = keys.get(keyId)
      if (!key) throw new UnreadableSecret(`the secret's key ${keyId} is not among ${keysName}`)
      try {
        const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), {
          authTagLength: tagBytes,
        })
        decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
        const text = decipher.update(bytes.subarray(nonceBytes + tagBytes))
        return Buffer.concat([text, decipher.final()]).toString('utf8')
      } catch (error) {
        throw new UnreadableSecret('the secret is damaged', { cause: error })
      }
    },
  }
}

/**
 * Decodes a key.
 *
 * @returns null for a malformed key
 */
function decode(text: string): Buffer | null {
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return null
  const key = Buffer.from(text, 'base64')
  return key.length === keyBytes ? key : null
}

function decodeOrThrow(text: string): Buffer {
  const key = decode(text)
  if (!key) throw new Error(`${keysName} has an entry that is not a key`)
  return key
}

/** Returns a key with its id, which is the beginning of its SHA-256. */
const withId = (key: Buffer): [string, Buffer] => [
  createHash('sha256').update(key).digest('hex').slice(0, 16),
  key,
]
