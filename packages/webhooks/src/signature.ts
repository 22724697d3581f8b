import { createHmac, timingSafeEqual } from 'node:crypto'

/** Header that carries the signature: `t=<seconds>,v1=<hexadecimal>`. */
export const signatureHeader = 'X-Switchyard-Signature'

/** Receivers should treat an older signature as a replay. */
const toleranceSecondsDefault = 300

/**
 * The value of `X-Switchyard-Signature`: the time of signing, and HMAC-SHA256 over `<seconds>.<body>`. A receiver that checks
 * the time detects replayed requests.
 */
export const sign = (secret: string, body: string, now: Date): string => {
  const seconds = Math.floor(now.getTime() / 1000)
  return `t=${seconds},v1=${hmac(secret, seconds, body).toString('hex')}`
}

export interface VerifyOptions {
  secret: string
  /** The value of `X-Switchyard-Signature`. */
  signature: string
  /** The raw request body. */
  body: string | Uint8Array
  now?: Date
  /** Unset: 300. */
  toleranceSeconds?: number
}

/** Whether a request was recently signed with this secret. For receivers of webhooks. */
export function verify({
  secret,
  signature,
  body,
  now = new Date(),
  toleranceSeconds = toleranceSecondsDefault,
}: VerifyOptions): boolean {
  const parts = signature.split(',').map((part) => part.trim())
  const seconds = Number(valuesOf(parts, 't')[0] ?? Number.NaN)
  if (!Number.isSafeInteger(seconds)) return false
  if (Math.abs(now.getTime() / 1000 - seconds) > toleranceSeconds) return false
  const expected = hmac(secret, seconds, body)
  return valuesOf(parts, 'v1').some((value) => equal(Buffer.from(value, 'hex'), expected))
}

const hmac = (secret: string, seconds: number, body: string | Uint8Array): Buffer =>
  createHmac('sha256', secret).update(`${seconds}.`).update(body).digest()

const valuesOf = (parts: string[], name: string): string[] =>
  parts.filter((part) => part.startsWith(`${name}=`)).map((part) => part.slice(name.length + 1))

const equal = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b)
