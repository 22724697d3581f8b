import { readdir, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { isLfsOid, lfsPointerBytesMax } from '@switchyard/domain/commit'
import { argumentsOf, ended, spawnGit, stopGit } from '../git-process.js'
import { lfsObjects } from '../lfs-objects.js'
import { readLfsPointers } from '../lfs-pointers.js'

/** A client may upload objects this long before the push that names them. */
const graceMs = 14 * 24 * 3_600_000

/** Forgets objects. @returns the ids of those that are still needed */
export type ForgetLfsObjects = (oids: readonly string[]) => Promise<string[]>

/** Most ids of small files in one part of the list. */
const readAtOnce = 20_000

/**
 * Removes the objects of Git LFS that no pointer among the objects of the repository names, when they are older than two weeks. A
 * pointer also counts when no reference leads to it, as long as git keeps it.
 *
 * @param forget receives the ids of the objects before they are removed, and returns those that files of packages or comments have
 * @throws the reason of the signal when it is aborted
 */
export async function removeLfsObjects(
  repository: string,
  forget: ForgetLfsObjects,
  signal: AbortSignal,
): Promise<void> {
  const unneeded = await listOldObjects(join(repository, lfsObjects))
  if (unneeded.size === 0) return
  for await (const ids of listSmallBlobs(repository, signal)) {
    for await (const pointers of readLfsPointers(repository, ids, { signal })) {
      for (const { oid } of pointers) unneeded.delete(oid)
    }
    if (unneeded.size === 0) return
  }
  signal.throwIfAborted()
  for (const oid of await forget([...unneeded.keys()])) unneeded.delete(oid)
  for (const file of unneeded.values()) {
    // A client that is about to push may have renewed the object since it was listed.
    if (await isOld(file)) await rm(file, { force: true })
  }
}

/** The paths of the objects beyond the grace period, by id. */
async function listOldObjects(folder: string): Promise<Map<string, string>> {
  const names = await readdir(folder, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const old = new Map<string, string>()
  for (const name of names) {
    const oid = basename(name)
    if (isLfsOid(oid) && (await isOld(join(folder, name)))) old.set(oid, join(folder, name))
  }
  return old
}

async function isOld(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => null)
  return found !== null && Date.now() - found.mtimeMs > graceMs
}

/** Ids of all blobs of the repository that are small enough for a pointer, in parts. */
async function* listSmallBlobs(repository: string, signal: AbortSignal): AsyncGenerator<string[]> {
  signal.throwIfAborted()
  const flags = [
    ...['--batch-all-objects', '--unordered', '--buffer'],
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
