import { stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runGitOk } from '../processes/git-process.js'
import { hasBitmap, hasPack } from '../repository-files.js'
import { removeLeftovers, removeUnfinishedPacks } from './remove-leftovers.js'
import { type LfsObjectNotes, removeLfsObjects } from './remove-lfs-objects.js'

export interface TidyOptions {
  /** Time between collections of unreachable objects. Unset: once a week. */
  collectEveryMs?: number
  /** Age at which an unreachable object is removed, in git's notation of times. Unset: two weeks. */
  grace?: string
  /** The records of the database about the objects of Git LFS and of files. */
  lfsObjectNotes: LfsObjectNotes
}

/**
 * Settings that limit the memory of packing to some 500 MB, including mapped packs. By default git compares
 * files up to 512 MB.
 */
const settings = {
  'core.multiPackIndex': 'true',
  'core.deltaBaseCacheLimit': '64m',
  'core.packedGitLimit': '256m',
  'core.packedGitWindowSize': '32m',
  'pack.threads': '1',
  'pack.writeBitmapLookupTable': 'true',
  'pack.writeReverseIndex': 'true',
  'pack.windowMemory': '128m',
  'pack.deltaCacheSize': '64m',
}

/** Memory limit. The list of all objects of a large repository takes more memory than a request may use. */
const memoryBytesMax = 4 * 1024 ** 3

/** Time limit of a step, for the case that the signal of the job does not end it earlier. */
const stepMsMax = 60 * 60_000

type Step = [command: string, ...flags: string[]]

const packRefs: Step = ['pack-refs', '--all']

const graph: Step = ['commit-graph', 'write', '--reachable', '--changed-paths', '--no-progress']

/**
 * Steps that keep a bare repository fast and are safe during fetches and pushes: references move to one file,
 * small packs and loose objects are joined into a geometric series of packs under one index.
 */
const usualSteps: Step[] = [
  packRefs,
  // Without `--no-write-bitmap-index`, git removes the bitmaps of packs that it leaves alone.
  ['repack', '-d', '--geometric=2', '--write-midx', '--no-write-bitmap-index', '--quiet'],
]

/** The commit-graph gets a layer for new commits, with the paths that each commit changed. */
const addToGraph: Step = [...graph, '--split', '--expire-time=1.hour.ago']

/**
 * Returns steps that join all reachable objects into one pack with a bitmap, and unreachable objects into a
 * cruft pack. With the bitmap, git counts a history without walking through it. The cruft pack stores the age
 * of each object.
 *
 * @param expiration which unreachable objects are removed
 */
const joiningSteps = (expiration: string): Step[] => [
  ['repack', '-d', '--cruft', `--cruft-expiration=${expiration}`, '--write-bitmap-index', '--quiet'],
  ['multi-pack-index', 'write', '--no-progress'],
]

/**
 * Returns steps that also remove unreachable objects older than the grace period. The objects of a push or a
 * commit in progress are younger.
 */
const collectingSteps = (grace: string): Step[] => [
  packRefs,
  ...joiningSteps(grace),
  ['prune', `--expire=${grace}`],
  [...graph, '--split=replace', '--expire-time=1.hour.ago'],
]

const week = 7 * 24 * 3_600_000

/**
 * Tidies a repository.
 *
 * @returns whether there is a repository at this path
 */
export async function tidyRepository(
  repository: string,
  signal: AbortSignal,
  { collectEveryMs = week, grace = '2.weeks.ago', lfsObjectNotes: notes }: TidyOptions,
): Promise<boolean> {
  if (!(await stat(join(repository, 'objects')).catch(() => null))) return false
  await removeLeftovers(repository)
  const collects = await isCollectionDue(repository, collectEveryMs)
  const run = (steps: readonly Step[]) => runSteps(repository, steps, signal)
  if (collects) await run(collectingSteps(grace))
  else {
    // The graph comes first, because it takes less time and more requests profit from it.
    await run([...usualSteps, addToGraph])
    // A pack keeps its bitmap until others of half its size have come, so large packs are joined seldom.
    if (!(await hasBitmap(repository)) && (await hasPack(repository))) await run(joiningSteps('never'))
  }
  await removeLfsObjects(repository, { notes, collects }, signal)
  if (collects) await utimes(stampOf(repository), new Date(), new Date())
  return true
}

async function runSteps(repository: string, steps: readonly Step[], signal: AbortSignal): Promise<void> {
  for (const [command, ...flags] of steps) {
    const options = { signal, settings, memoryBytesMax, timeoutMs: stepMsMax }
    const startedMs = Date.now()
    try {
      await runGitOk(repository, { command, flags }, options)
    } catch (error) {
      await removeUnfinishedPacks(repository, startedMs)
      throw error
    }
  }
}

/** Returns the path of the file whose modification time is the time of the last collection. */
const stampOf = (repository: string) => join(repository, 'switchyard-collected')

/** Returns whether a collection is due. A repository without the file is new, and has no old objects. */
async function isCollectionDue(repository: string, everyMs: number): Promise<boolean> {
  const stamp = stampOf(repository)
  const last = await stat(stamp).catch(() => null)
  if (!last) await writeFile(stamp, '')
  return last !== null && Date.now() - last.mtimeMs >= everyMs
}
