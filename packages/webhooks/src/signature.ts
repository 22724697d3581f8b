import { createHmac, timingSafeEqual } from 'node:crypto'

/** Header that carries the signature: `t=<seconds>,v1=<hexadecimal>`. */
export const signatureHeader = 'X-Switchyard-Signature'

/** Age in seconds above which receivers should treat a signature as a replay. */
const toleranceSecondsDefault = 300

/**
 * Returns the value of `X-Switchyard-Signature`: the time of signing, and HMAC-SHA256 over `<seconds>.<body>`
 * with each secret. A receiver that checks the time detects replayed requests.
 */
export const sign = (secrets: string | readonly string[], body: string, now: Date): string => {
  const seconds = String(Math.floor(now.getTime() / 1000))
  const signatures = [secrets].flat().map((secret) => `v1=${hmac(secret, seconds, body).toString('hex')}`)
  return [`t=${seconds}`, ...signatures].join()
}

export interface VerifyOptions {
  secret: string
  /** The value of `X-Switchyard-Signature`; undefined for a request without it. */
  signature: string | string[] | undefined
  /** The raw request body. */
  body: string | Uint8Array
  now?: Date
  /** Unset: 300. */
  toleranceSeconds?: number
}

/**
 * Returns whether a request was recently signed with this secret. It is for receivers of webhooks. It never
 * throws, whatever the header contains.
 */
export function verify({
  secret,
  signature,
  body,
  now = new Date(),
  toleranceSeconds = toleranceSecondsDefault,
}: VerifyOptions): boolean {
  const parts = [signature ?? '']
    .flat()
    .join()
    .split(',')
    .map((part) => part.trim())
  const [seconds = ''] = valuesOf(parts, 't')
  if (!/^\d{1,15}$/.test(seconds)) return false
  // This also refuses a tolerance that is not a number.
  if (!(Math.abs(now.getTime() / 1000 - Number(seconds)) <= toleranceSeconds)) return false
  const expected = hmac(secret, seconds, body)
  return valuesOf(parts, 'v1').some(
    (value) => hexPattern.test(value) && timingSafeEqual(Buffer.from(value, 'hex'), expected),
  )
}

const hexPattern = /^[0-9a-f]{64}$/i

const hmac = (secret: string, seconds: string, body: string | Uint8Array): Buffer =>
  createHmac('sha256', secret).update(`${seconds}.`).update(body).digest()

const valuesOf = (parts: string[], name: string): string[] =>
  parts.filter((part) => part.startsWith(`${name}=`)).map((part) => part.slice(name.length + 1))
