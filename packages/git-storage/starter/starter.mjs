// Starts programs for a process with much memory, see program-starter.ts. It has no dependencies, so that it
// stays small.
import { spawn } from 'node:child_process'

const killAfterMs = 2000

/**
 * Functions that end the program with an id.
 *
 * @type {Map<number, () => void>}
 */
const stops = new Map()

process.on('message', (message) => {
  if (message.stop) stops.get(message.id)?.()
  else run(message)
})
// The process that asked has ended, so nobody reads the output of the programs.
process.on('disconnect', () => {
  for (const stop of stops.values()) stop()
})
// Ctrl-C reaches every process of a terminal. This process ignores it, and ends with the process that uses
// it, which may still need it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})

/** Runs a program to its end and sends its outcome. */
function run({ id, command, args, env, stdin, timeoutMs, stdoutBytesMax, stderrBytesMax }) {
  const startedAt = performance.now()
  let child
  try {
    child = spawn(command, args, { cwd: '/', env })
  } catch ({ message }) {
    // The arguments are longer than the operating system allows.
    process.send({ id, failure: message })
    return
  }
  const stop = () => stopProgram(child)
  stops.set(id, stop)
  const timer = setTimeout(stop, timeoutMs)
  const finish = (outcome) => {
    clearTimeout(timer)
    stops.delete(id)
    if (process.connected) process.send({ id, ...outcome })
  }
  child.once('error', ({ message }) => finish({ failure: message }))
  // Node creates no streams when this process has too many open files.
  if (!child.stdin) return
  const stdout = collect(child.stdout, stdoutBytesMax, stop)
  const stderr = collect(child.stderr, stderrBytesMax, () => {})
  child.once('close', (code, signal) => {
    const outputs = { stdout: stdout.bytes(), stderr: stderr.bytes(), truncated: stdout.overflown() }
    finish({ result: { code, signal, ...outputs, tookMs: performance.now() - startedAt } })
  })
  // The exit code of a program that stops reading early tells the reason; the error of the broken pipe does
  // not.
  child.stdin.on('error', () => {})
  child.stdin.end(stdin)
}

/** Sends SIGTERM, on which git removes its lock files, and SIGKILL when the program does not end in time. */
function stopProgram(child) {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), killAfterMs)
  child.once('close', () => clearTimeout(timer))
}

function collect(stream, bytesMax, onOverflow) {
  const chunks = []
  let length = 0
  let isOverflown = false
  stream.on('data', (chunk) => {
    if (isOverflown) return
    const kept = chunk.subarray(0, bytesMax - length)
    chunks.push(kept)
    length += kept.length
    isOverflown = kept.length < chunk.length
    if (isOverflown) onOverflow()
  })
  return { bytes: () => Buffer.concat(chunks, length), overflown: () => isOverflown }
}
