import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Age of a stale lock. git holds a lock for some milliseconds, so a killed process left such a lock. */
const staleMs = 5 * 60_000

/**
 * Removes a lock if it is stale.
 *
 * @returns whether a stale lock was removed
 */
export async function removeStaleLock(lock: string): Promise<boolean> {
  const found = await stat(lock).catch(() => null)
  if (!found || Date.now() - found.mtimeMs < staleMs) return false
  await rm(lock, { force: true })
  return true
}

/**
 * Removes stale locks of references, which would make git refuse to move them.
 *
 * @param path of the bare repository
 */
export async function removeStaleRefLocks(path: string): Promise<void> {
  const locks = [...(await listRefLocks(path)), 'packed-refs.lock', 'HEAD.lock']
  await Promise.all(locks.map((lock) => removeStaleLock(join(path, lock))))
}

/** Lists lock files below `refs`. Most references are packed in one file, so few folders are searched. */
export async function listRefLocks(path: string): Promise<string[]> {
  const names = await readdir(join(path, 'refs'), { recursive: true }).catch(() => [])
  return names.filter((name) => name.endsWith('.lock')).map((name) => join('refs', name))
}
