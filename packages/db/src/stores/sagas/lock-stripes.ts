/**
 * Things that share a stripe wait for each other though they have nothing in common, so there are many: two batches of
 * 50 sagas share one in 1 of 27 cases. A batch holds at most one lock for each of its events.
 */
const stripeBits = 16

/** The stripe of a saga, an activity or an event id. Every writer computes the same. */
export function stripeOf(kind: 'saga' | 'activity' | 'event', tenant: string, id: string): number {
  let hash = kind === 'saga' ? 0x811c9dc5 : kind === 'activity' ? 0x1b873593 : 0x5bd1e995
  for (let index = 0; index < tenant.length; index += 1)
    hash = Math.imul(hash ^ tenant.charCodeAt(index), 0x01000193)
  hash = Math.imul(hash ^ 0x100, 0x01000193)
  for (let index = 0; index < id.length; index += 1) hash = Math.imul(hash ^ id.charCodeAt(index), 0x01000193)
  hash ^= hash >>> 15
  return Math.imul(hash, 0x2c1b3c6d) >>> (32 - stripeBits)
}

/** Every writer takes its locks in ascending order, so none waits for one that waits for it. */
export const inLockOrder = (numbers: Iterable<number>): Int32Array => Int32Array.from(new Set(numbers)).sort()
