import { accessSync, chmodSync, constants, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { makeFolder } from '@switchyard/config'
import { SolvableProblem } from '@switchyard/terminal'
import { findCommandLine } from '../process/find-process.js'

/** Longest wait for the end of an earlier start. When its npm was killed, it first ends its processes. */
const endingMsMax = 5_000

/**
 * Locks the data folder for this process. The lock file contains the process id. The lock of a process that
 * has ended, or that ends within seconds, is taken over.
 *
 * @returns a function that releases the lock
 */
export async function claimDataFolder(dataDir: string): Promise<() => void> {
  try {
    makeFolder(dataDir)
    accessSync(dataDir, constants.W_OK | constants.X_OK)
    // Under root, PostgreSQL runs as another user, who must be able to enter this folder but not to list it.
    if (process.getuid?.() === 0) chmodSync(dataDir, 0o711)
  } catch {
    throw new SolvableProblem(
      `Cannot write to ${dataDir}: make it yours, or set SWITCHYARD_DATA to another folder`,
    )
  }
  const lockFile = join(dataDir, 'start.pid')
  if (!tryWrite(lockFile)) {
    const holder = Number(readFileSync(lockFile, 'utf8'))
    const deadlineMs = performance.now() + endingMsMax
    while (isStart(holder)) {
      await delay(100)
      if (performance.now() < deadlineMs) continue
      throw new SolvableProblem(
        `Switchyard already runs on ${dataDir} (process ${holder}): stop it, or set SWITCHYARD_DATA to another folder`,
      )
    }
    rmSync(lockFile, { force: true })
    if (!tryWrite(lockFile))
      throw new SolvableProblem(`Another start just claimed ${dataDir}: stop one of the two`)
  }
  return () => rmSync(lockFile, { force: true })
}

function tryWrite(lockFile: string): boolean {
  try {
    writeFileSync(lockFile, String(process.pid), { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

// Returns whether a process is a start or a restore, which fills the folder. The command line is checked,
// because process ids are reused, especially in containers.
function isStart(pid: number): boolean {
  return (
    pid !== process.pid &&
    /(?:(?:start|restore)\.mjs|switchyard(?:\.mjs)? (?:start|restore))/.test(findCommandLine(pid) ?? '')
  )
}
