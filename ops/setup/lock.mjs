// A lock for the setup of a folder, for commands that start at the same time.
import { createHash } from 'node:crypto'
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * Runs `work` while holding the lock of a folder. Calls `onWait` once when another process holds it.
 *
 * @param stop an AbortSignal that ends the wait; the promise rejects then
 */
export async function withLock(folder, stop, onWait, work) {
  // The lock is outside the folder, because an installation may replace node_modules, and git would list a
  // file elsewhere.
  const hash = createHash('sha256').update(folder).digest('hex').slice(0, 16)
  const file = join(tmpdir(), `switchyard-setup-${process.getuid?.() ?? 'user'}-${hash}.lock`)
  let told = false
  while (!tryTake(file)) {
    if (!told) onWait()
    told = true
    await delay(200, undefined, { signal: stop })
  }
  const release = () => rmSync(file, { force: true })
  process.once('exit', release)
  try {
    return await work()
  } finally {
    process.off('exit', release)
    release()
  }
}

function tryTake(file) {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  }
  if (!holderIsGone(file)) return false
  // The lock is renamed before it is removed, so that only one of two processes removes an abandoned lock.
  // The slower process may rename the lock that the faster one has taken since, and then gives it back.
  const renamed = `${file}.${process.pid}`
  try {
    renameSync(file, renamed)
    if (!holderIsGone(renamed)) linkSync(renamed, file)
  } catch {
    // The other process was faster.
  }
  rmSync(renamed, { force: true })
  return false
}

function holderIsGone(file) {
  try {
    process.kill(Number(readFileSync(file, 'utf8')), 0)
    return false
  } catch (error) {
    return error.code === 'ESRCH'
  }
}
