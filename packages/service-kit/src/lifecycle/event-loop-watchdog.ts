import { url as inspectorUrl } from 'node:inspector'
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import type { Logger } from '../observability/index.js'

/**
 * Indexes of the shared numbers: the count of turns of the event loop, and 1 while a debugger may stop it.
 */
const turnsIndex = 0
const debuggedIndex = 1

const looksPerStall = 10
// The thread is found by its name, because a bundled service has no folder of modules beside it.
const threadModule = '@switchyard/service-kit/threads/event-loop-watchdog'

/**
 * Ends this process with SIGKILL once its event loop has stood still for `stallMs`. The supervisor of the
 * process then starts it again. SIGKILL is needed because such a process answers no probe, no caller and no
 * signal. Time during which the whole process is stopped (a suspended machine, SIGSTOP) does not count. A
 * debugger pauses the watch.
 *
 * @returns a function that ends the watch
 */
export function watchEventLoop(
  { service, stallMs }: { service: string; stallMs: number },
  logger: Logger,
): () => Promise<unknown> {
  const shared = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)
  const state = new Int32Array(shared)
  const lookEveryMs = stallMs / looksPerStall
  const beat = () => {
    Atomics.add(state, turnsIndex, 1)
    Atomics.store(state, debuggedIndex, inspectorUrl() === undefined ? 0 : 1)
  }
  // The first beat comes at once, so that a debugger is known when the event loop stops before the first turn
  // of the timer.
  beat()
  const timer = setInterval(beat, lookEveryMs / 2)
  timer.unref()
  const thread = new Worker(createRequire(import.meta.url).resolve(threadModule), {
    workerData: { service, stallMs, lookEveryMs, shared },
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
  })
  thread.on('error', (error) => logger.error({ err: error }, 'the watchdog of the event loop has failed'))
  thread.unref()
  return () => {
    clearInterval(timer)
    return thread.terminate()
  }
}
