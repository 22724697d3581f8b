// The signal for a script to stop: a signal of the system, or the end of the package manager that started it.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'

const lookEveryMs = 500
const packageManagers = /^(npm|npx|pnpm|pnpx|yarn|corepack)([-.]\w+)*$/
const ownScripts = /^(start|test|check|backup|restore|report-saga|with-infra)\.mjs$/
const shells = /^(sh|bash|dash|ash|zsh)$/

/**
 * Returns an AbortSignal that is aborted at the first SIGINT, SIGTERM or SIGHUP, with the name of the signal
 * as the reason. It is also aborted, with the reason SIGHUP, when `npm`, `pnpm` or a parent script has ended
 * without a signal, as after `kill -9`.
 */
export function stopSignal() {
  const controller = new AbortController()
  // The listeners are never removed, because a library without other listeners beside its own ends the
  // process at once.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => controller.abort(name))
  const launchers = findLaunchers()
  if (launchers.length > 0) {
    const timer = setInterval(() => {
      if (launchers[0] === process.ppid && launchers.every(isRunning)) return
      clearInterval(timer)
      controller.abort('SIGHUP')
    }, lookEveryMs)
    timer.unref()
  }
  return controller.signal
}

/**
 * Finds the package managers and scripts of this repository that are ancestors of this process, nearest
 * first, with at most `sh -c` between them. A terminal, a shell script or a service manager does not count,
 * because it may end while `npm start` continues in the background.
 */
function findLaunchers() {
  const launchers = []
  let shellsBetween = []
  for (let pid = process.ppid; pid > 1; pid = parentOf(pid)) {
    const kind = kindOf(pid)
    if (kind === 'shell') shellsBetween.push(pid)
    else if (kind === 'launcher') {
      launchers.push(...shellsBetween, pid)
      shellsBetween = []
    } else break
  }
  return launchers
}

function kindOf(pid) {
  const [program = '', argument = ''] = wordsOf(pid)
  if (shells.test(basename(program)) && argument === '-c') return 'shell'
  const names = [basename(program), basename(argument)]
  return names.some((name) => packageManagers.test(name) || ownScripts.test(name)) ? 'launcher' : 'other'
}

/** Returns the command line of a process, by words; npm shows its subcommand there. */
function wordsOf(pid) {
  try {
    const line =
      process.platform === 'linux'
        ? readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
        : execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' })
    return line.trim().split(/\s+/)
  } catch {
    return []
  }
}

/** Returns the id of a process's parent; 0 when the process is gone. */
function parentOf(pid) {
  try {
    if (process.platform !== 'linux') {
      return Number(execFileSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' }))
    }
    // The name of the program, in parentheses, may contain spaces; state and parent follow it.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return 0
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}
