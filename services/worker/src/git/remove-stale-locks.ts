import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Locks that only housekeeping takes, of which one project has one run at a time. */
const locks = [
  'objects/info/commit-graph.lock',
  'objects/info/commit-graphs/commit-graph-chain.lock',
  'objects/pack/multi-pack-index.lock',
]

/** Longer than a run may take, so the run that took such a lock is over. */
const staleMs = 60 * 60_000

/** Removes the locks of a run that was killed: git would refuse to go on for as long as they are there. */
export async function removeStaleLocks(repository: string): Promise<void> {
  for (const lock of locks) {
    const path = join(repository, lock)
    const found = await stat(path).catch(() => null)
    if (found && Date.now() - found.mtimeMs > staleMs) await rm(path, { force: true })
  }
}
