// The thread that watches the event loop of the main thread. src/lifecycle/event-loop-watchdog.ts starts it.
// It is JavaScript, so that it runs unchanged from sources and beside a bundle.
import { writeSync } from 'node:fs'
import { workerData } from 'node:worker_threads'

const { service, stallMs, lookEveryMs, shared } = workerData
const [turnsIndex, debuggedIndex] = [0, 1]
const state = new Int32Array(shared)
let turnsSeen = -1
let stalledMs = 0
let lookedAt = performance.now()

setInterval(() => {
  const now = performance.now()
  // When this thread was stopped too, the time since counts as no more than one late look.
  const passedMs = Math.min(now - lookedAt, 2 * lookEveryMs)
  lookedAt = now
  const turns = Atomics.load(state, turnsIndex)
  const stands = turns === turnsSeen && Atomics.load(state, debuggedIndex) === 0
  turnsSeen = turns
  stalledMs = stands ? stalledMs + passedMs : 0
  if (stalledMs >= stallMs) end()
}, lookEveryMs)

function end() {
  const msg = `the event loop has stood still for ${stallMs} ms: this process ends itself (EVENT_LOOP_STALL_MS)`
  const line = { level: 'fatal', time: new Date().toISOString(), service, msg }
  try {
    writeSync(1, `${JSON.stringify(line)}\n`)
  } finally {
    // No milder way works, because other signals and exits wait for the event loop.
    process.kill(process.pid, 'SIGKILL')
  }
}
