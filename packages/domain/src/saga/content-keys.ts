import { hash } from 'node:crypto'
import type { Activity } from './activity.js'
import type { SagaEvent } from './events.js'

/** First byte of a hash. It changes when the hash function changes. */
const version = 1
const hashBytes = 16
/** Most stored keys. A repetition of an older event is only recognized by its rank, like any late event. */
const keysMax = 64

/** The parts that identify an event without an id. */
export interface Content {
  operation: SagaEvent['operation']
  request: Uint8Array
  /** The sequence number and the attempt of the event; null when the sender does not name them. */
  eventSeq: number | null
  attempt: number | null
}

/**
 * Returns the version and 128 bits of the SHA-256 of a content. Two requests about the same saga or activity
 * with the same hash are the same event.
 */
export function contentHash({ operation, request, eventSeq, attempt }: Content): Uint8Array {
  const parts = Buffer.from(`${operation}\n${eventSeq ?? ''}\n${attempt ?? ''}\n`)
  const digest = hash('sha256', Buffer.concat([parts, request]), 'buffer')
  return Buffer.concat([Uint8Array.of(version), digest], 1 + hashBytes)
}

/** Returns the content key of an event: its hash as Latin-1, one character for each byte. */
export const contentKeyOf = (hash: Uint8Array): string => Buffer.from(hash).toString('latin1')

/**
 * Returns whether a key is among the concatenated keys. Keys before it may have another length: those of
 * version 0 have eight bytes, and equal no current key.
 */
export function hasContentKey(keys: string, key: string): boolean {
  for (let at = keys.indexOf(key); at >= 0; at = keys.indexOf(key, at + 1)) {
    if ((keys.length - at) % key.length === 0) return true
  }
  return false
}

/** Appends a key, and removes the oldest one when there are too many. */
export const addContentKey = (keys: string, key: string): string => (keys + key).slice(-keysMax * key.length)

/**
 * Mixes the attempts into a key. The same content after a retry belongs to another attempt, so it is a new
 * event.
 */
export function keyInAttempt(key: string, activity: Activity | null): string {
  if (!activity || (activity.executeAttempts === 0 && activity.compensateAttempts === 0)) return key
  const mixed = (index: number, attempts: number) =>
    String.fromCharCode((key.charCodeAt(index) ^ (attempts * 151)) & 0xff)
  return (
    key.slice(0, 1) +
    mixed(1, activity.executeAttempts) +
    mixed(2, activity.compensateAttempts) +
    key.slice(3)
  )
}

/**
 * Returns whether each repetition of an event counts. Retry reports without number and status are counted.
 */
export const repeatsCount = (event: SagaEvent): boolean =>
  event.operation === 'ActivityRetried' && event.retries === 0 && !event.statusNamed
