import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** git holds such a lock for some milliseconds; one this old was left by a process that was killed. */
const staleMs = 5 * 60_000

/** @returns whether there was such a lock, and no longer is */
export async function removeStaleLock(lock: string): Promise<boolean> {
  const found = await stat(lock).catch(() => null)
  if (!found || Date.now() - found.mtimeMs < staleMs) return false
  await rm(lock, { force: true })
  return true
}

/**
 * Removes the locks that would make git refuse to move references for ever. Most references are in one file, so
 * few folders are looked into.
 *
 * @param path of the bare repository
 */
export async function removeStaleRefLocks(path: string): Promise<void> {
  const names = await readdir(join(path, 'refs'), { recursive: true }).catch(() => [])
  const locks = names.filter((name) => name.endsWith('.lock')).map((name) => join('refs', name))
  await Promise.all(
    [...locks, 'packed-refs.lock', 'HEAD.lock'].map((lock) => removeStaleLock(join(path, lock))),
  )
}
