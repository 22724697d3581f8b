import { accessSync, chmodSync, constants, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SetupProblem } from '../problem.js'
import { findCommandLine } from '../process/find-process.js'

/**
 * Locks the data folder for this process. The lock file contains the process id; the lock of a process that has ended is taken
 * over.
 *
 * @returns a function that releases the lock
 */
export function claimDataFolder(dataDir: string): () => void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    accessSync(dataDir, constants.W_OK | constants.X_OK)
    // Under root, PostgreSQL runs as another user, who must be able to enter this folder but not to list it.
    if (process.getuid?.() === 0) chmodSync(dataDir, 0o711)
  } catch {
    throw new SetupProblem(
      `Cannot write to ${dataDir}: make it yours, or set SWITCHYARD_DATA to another folder`,
    )
  }
  const lockFile = join(dataDir, 'start.pid')
  if (!tryWrite(lockFile)) {
    const holder = Number(readFileSync(lockFile, 'utf8'))
    if (isStart(holder)) {
      throw new SetupProblem(
        `Switchyard already runs on ${dataDir} (process ${holder}): stop it, or set SWITCHYARD_DATA to another folder`,
      )
    }
    rmSync(lockFile, { force: true })
    if (!tryWrite(lockFile))
      throw new SetupProblem(`Another start just claimed ${dataDir}: stop one of the two`)
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

// Process ids are reused, especially in containers, so the command line is checked. A restore fills the folder.
function isStart(pid: number): boolean {
  return pid !== process.pid && /(?:start|restore)\.mjs/.test(findCommandLine(pid) ?? '')
}
