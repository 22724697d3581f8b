// Runs a command so that it can be ended together with everything that it has started.
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

const graceMs = 30_000
const restGraceMs = 10_000

const leader = join(import.meta.dirname, 'group-leader.mjs')

/**
 * Runs a command in its own process group until it ends. When `stop` is aborted, the group gets SIGTERM, and
 * SIGKILL half a minute later. The group also ends when this process is killed. Ctrl-C in a terminal reaches
 * only this process. Processes that remain when the command ends get SIGTERM, and SIGKILL ten seconds later.
 * The command has no standard input.
 *
 * @param stop an AbortSignal
 * @param options `cwd` and `env`; `onOutput` receives the output of the command, which otherwise goes to the
 * output of this process
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

/** Sends a signal to a group, and returns whether it had a member. */
function signalGroup(pid, signal) {
  try {
    process.kill(-pid, signal)
    return true
  } catch {
    return false
  }
}
