import { access, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { removeLeftovers } from './remove-leftovers.js'
import { runGit } from './run-git.js'

export interface TidyOptions {
  /** How often objects that no reference leads to are looked for. Unset: once a week. */
  collectEveryMs?: number
  /** How old such an object must be before it is removed, as git reads times. Unset: two weeks. */
  grace?: string
}

const packRefs = ['pack-refs', '--all']
const indexed = ['-c', 'core.multiPackIndex=true']

/**
 * What keeps a bare repository fast, and is safe while others read it and push to it:
 * references in one file, packs in a geometric row of sizes under one index (small packs and loose objects
 * are joined, large packs are left alone), and the commit graph with the paths each commit changed, a new
 * layer for what is new.
 */
const usualSteps = [
  packRefs,
  [...indexed, 'repack', '-d', '--geometric=2', '--write-midx', '--quiet'],
  graph('--split', '--expire-time=1.hour.ago'),
]

function graph(...flags: string[]): string[] {
  return ['commit-graph', 'write', '--reachable', '--changed-paths', '--no-progress', ...flags]
}

/**
 * The same from the ground up, now and then: everything that references lead to comes into one pack, the rest into
 * another that remembers the age of each object. The age begins anew whenever an object is packed otherwise; what
 * is older than the grace is gone. An object of a push or a commit under way is younger than that.
 */
const collectingSteps = (grace: string) => [
  packRefs,
  [...indexed, 'repack', '-d', '--cruft', `--cruft-expiration=${grace}`, '--write-midx', '--quiet'],
  ['prune', `--expire=${grace}`],
  graph('--split=replace', '--expire-time=1.hour.ago'),
]

const week = 7 * 24 * 3_600_000

/** @returns whether there is a repository at this path */
export async function tidyRepository(
  repository: string,
  signal: AbortSignal,
  { collectEveryMs = week, grace = '2.weeks.ago' }: TidyOptions = {},
): Promise<boolean> {
  if (!(await exists(join(repository, 'objects')))) return false
  await removeLeftovers(repository)
  const collects = await isCollectionDue(repository, collectEveryMs)
  for (const step of collects ? collectingSteps(grace) : usualSteps) await runGit(repository, step, signal)
  if (collects) await utimes(stampOf(repository), new Date(), new Date())
  return true
}

/** Its time tells when objects were last collected. */
const stampOf = (repository: string) => join(repository, 'switchyard-collected')

/** A repository that nobody has looked at yet is left for another time: there is nothing old in it. */
async function isCollectionDue(repository: string, everyMs: number): Promise<boolean> {
  const stamp = stampOf(repository)
  const last = await stat(stamp).catch(() => null)
  if (!last) await writeFile(stamp, '')
  return last !== null && Date.now() - last.mtimeMs >= everyMs
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )
