import type { Activity } from './activity.js'
import type { SagaEvent } from './events.js'

/** Length of a key: eight Latin-1 characters, one for each byte. */
const keyChars = 8
/** Most stored keys. A repetition of an older event is recognized by its rank only, like any other late event. */
const keysMax = 64

/**
 * The content key of an event: the first eight bytes of a hash over operation, request, sequence and attempt, as Latin-1. Two
 * requests about the same saga or activity with the same key are the same event.
 *
 * @param hash at least eight bytes
 */
export const contentKeyOf = (hash: Uint8Array): string =>
  Buffer.from(hash.subarray(0, keyChars)).toString('latin1')

/** Whether a key is among the concatenated keys. */
export function hasContentKey(keys: string, key: string): boolean {
  for (let at = keys.indexOf(key); at >= 0; at = keys.indexOf(key, at + 1)) {
    if (at % keyChars === 0) return true
  }
  return false
}

/** Appends a key, and removes the oldest one when there are too many. */
export const addContentKey = (keys: string, key: string): string =>
  keys.length < keysMax * keyChars ? keys + key : keys.slice(keyChars) + key

/** Mixes the attempts into a key, because the same content after a retry belongs to another attempt and is a new event. */
export function keyInAttempt(key: string, activity: Activity | null): string {
  if (!activity || (activity.executeAttempts === 0 && activity.compensateAttempts === 0)) return key
  const mixed = (index: number, attempts: number) =>
    String.fromCharCode((key.charCodeAt(index) ^ (attempts * 151)) & 0xff)
  return mixed(0, activity.executeAttempts) + mixed(1, activity.compensateAttempts) + key.slice(2)
}

/** Whether each repetition of an event counts: retry reports without number and status are counted. */
export const repeatsCount = (event: SagaEvent): boolean =>
  event.operation === 'ActivityRetried' && event.retries === 0 && !event.statusNamed

/** The parts that identify an event: see {@link contentHash}. */
export interface Content {
  operation: SagaEvent['operation']
  request: Uint8Array
  /** The sequence number and the attempt of the event; null when the sender does not name them. */
  eventSeq: number | null
  attempt: number | null
}

/**
 * An eight-byte hash of a content. It has to distinguish only the events of one saga or activity, so a fast, non-cryptographic
 * hash is enough. Stored keys depend on it, so it must not change.
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
  const words = new DataView(request.buffer, request.byteOffset, request.length)
  for (let index = 0; index < whole; index += 4) mix(words.getInt32(index, true))
  for (let index = whole; index < request.length; index += 1) mix(request[index] as number)
  return toBytes(avalanche(a ^ b), avalanche(b + Math.imul(a, 5)))
}

/** Mixes the bits: every bit of the input changes about half of the bits of the output. */
function avalanche(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}

function toBytes(a: number, b: number): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(8))
  bytes.setInt32(0, a, true)
  bytes.setInt32(4, b, true)
  return new Uint8Array(bytes.buffer)
}
