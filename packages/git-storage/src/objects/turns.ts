import { setImmediate } from 'node:timers/promises'
import type { Cancellable } from '../cancellable.js'

/** The longest time that a walk keeps the event loop busy. */
const turnMs = 8
const stepsBetweenLooks = 32

/**
 * Divides a long walk into turns, so that other requests are served between them.
 *
 * @returns `isOver`, to be asked after each step of the walk, and `yieldToEventLoop`, which throws the reason when the
 *   work is cancelled
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
