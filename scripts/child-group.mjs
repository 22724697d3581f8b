// Runs a command so that it can be ended with everything it has started.
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

const graceMs = 30_000
const restGraceMs = 10_000

const leader = join(import.meta.dirname, 'group-leader.mjs')

/**
 * Runs a command in a process group of its own until it ends; when `stop` is aborted, the whole group gets SIGTERM, and
 * SIGKILL half a minute later. The group also ends when this process is killed. A Ctrl-C in a terminal reaches this
 * process alone, so the group hears of it once. What the command leaves running when it ends gets SIGTERM, and SIGKILL
 * ten seconds later. The command has no standard input.
 *
 * @param stop an AbortSignal
 * @param options `cwd` and `env`; `onOutput` is given what the command writes, which is otherwise written where this
 *   process writes
 * @returns the exit code, or 128 and the number of the signal that ended the command
 */
export async function runGroup(command, stop, { onOutput, cwd, env } = {}) {
  if (stop.aborted) return 1
  const output = onOutput ? 'pipe' : 'inherit'
  const stdio = ['pipe', output, output]
  const child = spawn(process.execPath, [leader, ...command], { cwd, env, stdio, detached: true })
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
