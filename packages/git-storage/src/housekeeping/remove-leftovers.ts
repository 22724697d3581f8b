import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { lfsUploads } from '../lfs-objects.js'
import { listRefLocks } from '../writing/stale-locks.js'

/** Locks outside the references. Only housekeeping takes the locks of packs and commit-graphs. */
const locks = [
  'HEAD.lock',
  'config.lock',
  'packed-refs.lock',
  'objects/info/commit-graph.lock',
  'objects/info/commit-graphs/commit-graph-chain.lock',
  'objects/pack/multi-pack-index.lock',
]

/** Longer than any run of housekeeping, so the process that took a lock of this age is gone. */
const staleMs = 60 * 60_000

/** Longer than git-api lets a push run, or an upload stall. */
const pushStaleMs = 24 * 60 * 60_000

/**
 * Removes files that killed processes left behind: locks, which make git refuse further work, the objects of interrupted
 * pushes, which git itself keeps as long as unreachable objects, and interrupted uploads of LFS objects.
 */
export async function removeLeftovers(repository: string): Promise<void> {
  for (const lock of [...locks, ...(await listRefLocks(repository))]) {
    await removeIfOlder(join(repository, lock), staleMs)
  }
  const objects = join(repository, 'objects')
  for (const name of await readdir(objects)) {
    if (name.startsWith('tmp_objdir-')) await removeIfOlder(join(objects, name), pushStaleMs)
  }
  const uploads = join(repository, lfsUploads)
  for (const name of await readdir(uploads).catch(() => [])) {
    await removeIfOlder(join(uploads, name), pushStaleMs)
  }
}

async function removeIfOlder(path: string, ageMs: number): Promise<void> {
  const found = await stat(path).catch(() => null)
  if (found && Date.now() - found.mtimeMs > ageMs) await rm(path, { recursive: true, force: true })
}
