import { setImmediate } from 'node:timers/promises'
import type { Cancellable } from '../cancellable.js'

/** A walk blocks the event loop for about this long at a time. */
const turnMs = 8
const stepsBetweenLooks = 32

/**
 * Divides a long walk into turns of the event loop.
 *
 * @returns `isOver`, to be called after each step of the walk, and `yieldToEventLoop`, which throws when the work is
 *   cancelled
 */
export function createTurns(cancellable?: Cancellable) {
  let steps = 0
  let startedMs = performance.now()
  return {
    isOver: () => ++steps % stepsBetweenLooks === 0 && performance.now() - startedMs > turnMs,
    async yieldToEventLoop() {
      await setImmediate()
      cancellable?.signal?.throwIfAborted()
      startedMs = performance.now()
    },
  }
}
