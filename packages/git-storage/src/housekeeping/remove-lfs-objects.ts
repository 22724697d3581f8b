import { rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { isLfsOid, lfsPointerBytesMax } from '@switchyard/domain/commit'
import { lfsObjects } from '../lfs/lfs-objects.js'
import { readLfsPointers } from '../lfs/lfs-pointers.js'
import { argumentsOf, ended, spawnGit, stopGit } from '../processes/git-process.js'
import { namesIn } from './list-repositories.js'

/**
 * Time for which an object is kept without a pointer, because a client may upload objects this long before
 * its push.
 */
const graceMs = 14 * 24 * 3_600_000

/**
 * Time for which the object of a deleted file is kept, because the same bytes may be stored again before the
 * database has their package or comment.
 */
const releasedGraceMs = 3_600_000

/** The records of the database about the objects of a repository. */
export interface LfsObjectNotes {
  /** Lists the ids of the objects of deleted files. */
  listReleased(): Promise<string[]>
  /** Counts objects of deleted files as needed again. */
  reclaim(oids: readonly string[]): Promise<void>
  /**
   * Deletes the rows of objects that are about to be removed.
   *
   * @returns the ids of those that packages or comments still have
   */
  forget(oids: readonly string[]): Promise<string[]>
}

/** Most ids of small files in one part of the list. */
const readAtOnce = 20_000

/**
 * Removes the objects of deleted files that are older than an hour, and with `collects` all objects that are
 * older than two weeks, when no pointer of Git LFS among the objects of the repository names them. A pointer
 * also counts when no reference leads to it, as long as git keeps it.
 *
 * @throws the reason of the signal when it is aborted
 */
export async function removeLfsObjects(
  repository: string,
  { notes, collects }: { notes: LfsObjectNotes; collects: boolean },
  signal: AbortSignal,
): Promise<void> {
  const released = new Set(await notes.listReleased())
  if (released.size === 0 && !collects) return
  const graceOf = (oid: string) => (released.has(oid) ? releasedGraceMs : collects ? graceMs : null)
  const unneeded = await listOldObjects(join(repository, lfsObjects), graceOf)
  if (unneeded.size === 0) return
  const named = await listNamed(repository, new Set(unneeded.keys()), signal)
  for (const oid of named) unneeded.delete(oid)
  signal.throwIfAborted()
  const kept = await notes.forget([...unneeded.keys()])
  for (const oid of kept) unneeded.delete(oid)
  await notes.reclaim([...named, ...kept])
  for (const { path, graceMs } of unneeded.values()) {
    // A client that is about to push may have renewed the object since it was listed.
    if (await isOlder(path, graceMs)) await rm(path, { force: true })
  }
}

/** Returns those of the objects that a pointer of Git LFS names. */
async function listNamed(repository: string, sought: Set<string>, signal: AbortSignal): Promise<string[]> {
  const named: string[] = []
  for await (const ids of listSmallBlobs(repository, signal)) {
    for await (const pointers of readLfsPointers(repository, ids, { signal })) {
      for (const { oid } of pointers) if (sought.delete(oid)) named.push(oid)
    }
    if (sought.size === 0) break
  }
  return named
}

interface OldObject {
  path: string
  graceMs: number
}

/**
 * Returns the objects beyond their grace periods, by id.
 *
 * @param graceOf null for objects that are not asked for
 */
async function listOldObjects(
  folder: string,
  graceOf: (oid: string) => number | null,
): Promise<Map<string, OldObject>> {
  const names = await namesIn(folder, { recursive: true })
  const old = new Map<string, OldObject>()
  for (const name of names) {
    const oid = basename(name)
    const graceMs = isLfsOid(oid) ? graceOf(oid) : null
    if (graceMs === null) continue
    const path = join(folder, name)
    if (await isOlder(path, graceMs)) old.set(oid, { path, graceMs })
  }
  return old
}

async function isOlder(file: string, ms: number): Promise<boolean> {
  const found = await stat(file).catch(() => null)
  return found !== null && Date.now() - found.mtimeMs > ms
}

/** Lists the ids of all blobs of the repository that are small enough for a pointer, in parts. */
async function* listSmallBlobs(repository: string, signal: AbortSignal): AsyncGenerator<string[]> {
  signal.throwIfAborted()
  const flags = [
    '--batch-all-objects',
    '--unordered',
    '--buffer',
    '--batch-check=%(objectname) %(objecttype) %(objectsize)',
  ]
  const child = spawnGit(argumentsOf(repository, { command: 'cat-file', flags }))
  const stop = () => stopGit(child)
  signal.addEventListener('abort', stop)
  child.stdin.end()
  child.stderr.resume()
  const finished = ended(child)
  try {
    let ids: string[] = []
    for await (const line of createInterface({ input: child.stdout })) {
      const [id = '', type, size] = line.split(' ')
      if (type !== 'blob' || Number(size) > lfsPointerBytesMax) continue
      if (ids.push(id) < readAtOnce) continue
      yield ids
      ids = []
    }
    const code = await finished
    signal.throwIfAborted()
    // An incomplete list would make needed objects appear unneeded.
    if (code !== 0) throw new Error(`git cat-file exited with ${code}`)
    yield ids
  } finally {
    signal.removeEventListener('abort', stop)
    stopGit(child)
  }
}
