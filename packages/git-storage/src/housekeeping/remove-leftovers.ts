import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { listRefLocks } from '../references/stale-locks.js'

/** Locks outside the references and the objects. */
const locks = ['HEAD.lock', 'config.lock', 'packed-refs.lock', 'packed-refs.new', 'shallow.lock']

/**
 * Age of a stale lock. It is longer than any run of housekeeping, so the process that took such a lock is
 * gone.
 */
const staleMs = 60 * 60_000

/** Age of a stale push. It is longer than git-api lets a push run. */
const pushStaleMs = 24 * 60 * 60_000

/**
 * Removes files that killed processes left behind: locks, which make git refuse further work, unfinished
 * packs, indexes, loose objects and commit-graphs, and the objects of interrupted pushes, which git itself
 * keeps as long as unreachable objects. A file that is being written is never old.
 */
export async function removeLeftovers(repository: string): Promise<void> {
  for (const lock of [...locks, ...(await listRefLocks(repository))]) {
    await removeIfOlder(join(repository, lock), staleMs)
  }
  const objects = join(repository, 'objects')
  for (const name of await readdir(objects)) {
    if (name.startsWith('tmp_objdir-')) await removeIfOlder(join(objects, name), pushStaleMs)
  }
  for (const folder of await listObjectFolders(objects)) {
    for (const name of await namesIn(join(objects, folder))) {
      if (temporary.test(name)) await removeIfOlder(join(objects, folder, name), staleMs)
    }
  }
}

/**
 * Removes the unfinished files of a failed step of housekeeping. Otherwise each attempt on a full disk would
 * leave a further file. Only housekeeping creates files with these names, and it runs once at a time in a
 * repository.
 *
 * @param sinceMs when the step began, in milliseconds since 1970
 */
export async function removeUnfinishedPacks(repository: string, sinceMs: number): Promise<void> {
  const packs = join(repository, 'objects/pack')
  for (const name of await namesIn(packs)) {
    if (!unfinishedPack.test(name)) continue
    const found = await stat(join(packs, name)).catch(() => null)
    if (found && found.mtimeMs >= sinceMs - clockStepMs) await rm(join(packs, name), { force: true })
  }
}

/** Step by which file systems round times. */
const clockStepMs = 2_000
/** Names of temporary files: git appends six random characters, or puts its process id in front. */
const unfinishedPack = /^(?:tmp_[a-z]+_\w{6}|\.tmp-\d+-.+)$/
/**
 * Names of files that git and this service write under another name first, and of locks of packs and
 * commit-graphs.
 */
const temporary = /^(?:\.?tmp[_-].+|.+\.lock)$/

/** Lists the folders below `objects` to which files are written. */
async function listObjectFolders(objects: string): Promise<string[]> {
  const loose = (await readdir(objects)).filter((name) => /^[0-9a-f]{2}$/.test(name))
  return ['pack', 'info', 'info/commit-graphs', ...loose]
}

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => [])

async function removeIfOlder(path: string, ageMs: number): Promise<void> {
  const found = await stat(path).catch(() => null)
  if (found && Date.now() - found.mtimeMs > ageMs) await rm(path, { recursive: true, force: true })
}
