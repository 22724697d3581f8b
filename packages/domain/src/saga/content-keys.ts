import type { Activity } from './activity.js'
import type { SagaEvent } from './events.js'

/** Characters of a key, each one byte (Latin-1). */
const keyChars = 8
/** What is older than so many contents is told by its rank alone, like any other late event. */
const keysMax = 64

/**
 * The key of a content: the first eight bytes of a hash over operation, request, sequence and attempt, as Latin-1.
 * Two things with the same ids and the same key are the same event.
 */
export const contentKeyOf = (hash: Uint8Array): string =>
  String.fromCharCode(
    hash[0] ?? 0,
    hash[1] ?? 0,
    hash[2] ?? 0,
    hash[3] ?? 0,
    hash[4] ?? 0,
    hash[5] ?? 0,
    hash[6] ?? 0,
    hash[7] ?? 0,
  )

/** Whether the key is among these. */
export function hasContentKey(keys: string, key: string): boolean {
  for (let at = keys.indexOf(key); at >= 0; at = keys.indexOf(key, at + 1)) {
    if (at % keyChars === 0) return true
  }
  return false
}

/** The keys with one more, without the oldest when they are too many. */
export const addContentKey = (keys: string, key: string): string =>
  keys.length < keysMax * keyChars ? keys + key : keys.slice(keyChars) + key

/** The same words after a retry are another attempt's, so they count again. */
export function keyInAttempt(key: string, activity: Activity | null): string {
  if (!activity || (activity.executeAttempts === 0 && activity.compensateAttempts === 0)) return key
  const mixed = (index: number, attempts: number) =>
    String.fromCharCode((key.charCodeAt(index) ^ (attempts * 151)) & 0xff)
  return mixed(0, activity.executeAttempts) + mixed(1, activity.compensateAttempts) + key.slice(2)
}

/** A retry report that says nothing is counted each time, so its repetition is no duplicate. */
export const repeatsCount = (event: SagaEvent): boolean =>
  event.operation === 'ActivityRetried' && event.retries === 0 && !event.statusNamed

/** What makes two requests the same event: see {@link contentHash}. */
export interface Content {
  operation: SagaEvent['operation']
  request: Uint8Array
  /** The sender's number of the event and the attempt it is about; null when it does not say. */
  eventSeq: number | null
  attempt: number | null
}

/**
 * Eight bytes that stand for a content. It only has to tell the few dozen events of one activity apart, so a fast
 * hash without secrets will do.
 */
export function contentHash({ operation, request, eventSeq, attempt }: Content): Uint8Array {
  let a = 0x9e3779b9 ^ request.length
  let b = 0x85ebca6b ^ operation.length
  const mix = (word: number) => {
    a = Math.imul(a ^ word, 0xcc9e2d51)
    b = Math.imul(b ^ word, 0x1b873593)
    a = (a << 13) | (a >>> 19)
    b = (b << 15) | (b >>> 17)
    a = (a + b) | 0
  }
  for (let index = 0; index < operation.length; index += 3) mix(operation.charCodeAt(index))
  mix(operation.charCodeAt(operation.length - 3))
  if (eventSeq !== null) mix(eventSeq | 0)
  if (eventSeq !== null) mix(Math.floor(eventSeq / 2 ** 32) ^ 0x5bd1)
  if (attempt !== null) mix(attempt ^ 0x27d4eb2f)
  const whole = request.length & ~3
  for (let index = 0; index < whole; index += 4) {
    mix(
      (request[index] as number) |
        ((request[index + 1] as number) << 8) |
        ((request[index + 2] as number) << 16) |
        ((request[index + 3] as number) << 24),
    )
  }
  for (let index = whole; index < request.length; index += 1) mix(request[index] as number)
  return toBytes(avalanche(a ^ b), avalanche(b + Math.imul(a, 5)))
}

/** Every bit of the input changes half of the output's. */
function avalanche(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}

function toBytes(a: number, b: number): Uint8Array {
  const bytes = new Uint8Array(8)
  for (let index = 0; index < 4; index += 1) {
    bytes[index] = a >>> (index * 8)
    bytes[index + 4] = b >>> (index * 8)
  }
  return bytes
}
