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

/** Longer than git-api lets a push take. */
const pushStaleMs = 24 * 60 * 60_000

/**
 * Removes what processes left that were killed: locks, for as long as which git would refuse to go on, and what broken
 * pushes had sent, which git itself keeps for as long as objects that nothing refers to.
 */
export async function removeLeftovers(repository: string): Promise<void> {
  for (const lock of [...locks, ...(await locksOfReferences(repository))]) {
    await removeIfOlder(join(repository, lock), staleMs)
  }
  const objects = join(repository, 'objects')
  for (const name of await readdir(objects)) {
    if (name.startsWith('tmp_objdir-')) await removeIfOlder(join(objects, name), pushStaleMs)
  }
}

async function removeIfOlder(path: string, ageMs: number): Promise<void> {
  const found = await stat(path).catch(() => null)
  if (found && Date.now() - found.mtimeMs > ageMs) await rm(path, { recursive: true, force: true })
}

/** References are in one file for the most part, so few folders are left to look into. */
async function locksOfReferences(repository: string): Promise<string[]> {
  const names = await readdir(join(repository, 'refs'), { recursive: true }).catch(() => [])
  return names.filter((name) => name.endsWith('.lock')).map((name) => join('refs', name))
}
