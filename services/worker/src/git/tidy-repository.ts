import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { removeStaleLocks } from './remove-stale-locks.js'
import { runGit } from './run-git.js'

/**
 * What keeps a bare repository fast, and is safe while others read it and push to it:
 * references in one file, packs in a geometric row of sizes under one index (small packs and loose objects
 * are joined, large packs are left alone), and the commit graph with the paths each commit changed.
 * Nothing is ever pruned: objects of a push under way have no reference yet.
 */
const steps = [
  ['pack-refs', '--all'],
  ['-c', 'core.multiPackIndex=true', 'repack', '-d', '--geometric=2', '--write-midx', '--quiet'],
  ['commit-graph', 'write', '--reachable', '--changed-paths', '--no-progress'],
]

/** @returns whether there is a repository at this path */
export async function tidyRepository(repository: string, signal: AbortSignal): Promise<boolean> {
  if (!(await exists(join(repository, 'objects')))) return false
  await removeStaleLocks(repository)
  for (const step of steps) await runGit(repository, step, signal)
  return true
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )
