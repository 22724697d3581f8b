import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'

const iterations = 4096

/**
 * The verifier that PostgreSQL stores for a password (`SCRAM-SHA-256$…`, RFC 5803). It is sent instead of the password, which
 * PostgreSQL could write to its log.
 *
 * @param password consists of ASCII characters
 */
export function scramVerifier(password: string): string {
  const salt = randomBytes(16)
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256')
  const key = (name: string) => createHmac('sha256', salted).update(name).digest()
  const storedKey = createHash('sha256').update(key('Client Key')).digest()
  const [saltText, storedText, serverText] = [salt, storedKey, key('Server Key')].map((part) =>
    part.toString('base64'),
  )
  return `SCRAM-SHA-256$${iterations}:${saltText}$${storedText}:${serverText}`
}
