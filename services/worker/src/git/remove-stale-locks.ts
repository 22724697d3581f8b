import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Locks outside the references. Only housekeeping takes those of packs and graphs. */
const locks = [
  'HEAD.lock',
  'config.lock',
  'packed-refs.lock',
  'objects/info/commit-graph.lock',
  'objects/info/commit-graphs/commit-graph-chain.lock',
  'objects/pack/multi-pack-index.lock',
]

/** Longer than a run may take, so the process that took such a lock is gone. */
const staleMs = 60 * 60_000

/** Removes the locks of processes that were killed: git would refuse to go on for as long as they are there. */
export async function removeStaleLocks(repository: string): Promise<void> {
  for (const lock of [...locks, ...(await locksOfReferences(repository))]) {
    const path = join(repository, lock)
    const found = await stat(path).catch(() => null)
    if (found && Date.now() - found.mtimeMs > staleMs) await rm(path, { force: true })
  }
}

/** References are in one file for the most part, so few folders are left to look into. */
async function locksOfReferences(repository: string): Promise<string[]> {
  const names = await readdir(join(repository, 'refs'), { recursive: true }).catch(() => [])
  return names.filter((name) => name.endsWith('.lock')).map((name) => join('refs', name))
}
