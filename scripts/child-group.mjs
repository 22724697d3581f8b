// Runs a command so that it can be ended with everything it has started.
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'

const graceMs = 30_000
const restGraceMs = 10_000

/**
 * Runs a command in a process group of its own until it ends; when `stop` is aborted, the whole group gets SIGTERM, and
 * SIGKILL half a minute later. A Ctrl-C in a terminal reaches the caller alone, so the group hears of it once. What the
 * command leaves running when it ends gets SIGTERM, and SIGKILL ten seconds later.
 *
 * @param stop an AbortSignal
 * @param options of `spawn`; `onOutput` is given what a piped stdout or stderr says
 * @returns the exit code, or 128 and the number of the signal that ended the command
 * @throws when the command cannot be started
 */
export async function runGroup([command, ...args], stop, { onOutput, ...options } = {}) {
  if (stop.aborted) return 1
  const child = spawn(command, args, { ...options, detached: true })
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', onOutput)
  let killing
  const end = () => {
    signalGroup(child.pid, 'SIGTERM')
    killing = setTimeout(() => signalGroup(child.pid, 'SIGKILL'), graceMs)
  }
  stop.addEventListener('abort', end, { once: true })
  try {
    const code = await new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal]))
    })
    await endRest(child.pid)
    return code
  } finally {
    clearTimeout(killing)
    stop.removeEventListener('abort', end)
  }
}

/** Ends the members of a group whose leader has ended. */
async function endRest(pid) {
  const deadline = performance.now() + restGraceMs
  for (let alive = signalGroup(pid, 'SIGTERM'); alive; alive = signalGroup(pid, 0)) {
    if (performance.now() > deadline) return void signalGroup(pid, 'SIGKILL')
    await delay(50)
  }
}

/** Whether the group had a member to signal. */
function signalGroup(pid, signal) {
  try {
    process.kill(-pid, signal)
    return true
  } catch {
    return false
  }
}
