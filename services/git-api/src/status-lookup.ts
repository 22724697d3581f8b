import { randomUUID } from 'node:crypto'
import { closeSync, constants, openSync, readFileSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { type Database, listCountedStatuses, type Project } from '@switchyard/db'
import { LRUCache } from 'lru-cache'

/** Staleness bound if a process dies before writing the mark. */
const knownMs = 1_000
const rememberedMax = 10_000
/** In the folder of a repository; git ignores files that it does not know. */
const markFile = 'switchyard-statuses'

type Counted = Awaited<ReturnType<typeof listCountedStatuses>>
export type StatusLookup = ReturnType<typeof createStatusLookup>

/**
 * Finds the statuses that count for the state of a commit. Every post writes a new mark beside the repository, which all
 * replicas share, before it is answered. Reading the mark takes a few microseconds, so the database is only asked when
 * the mark has changed, or after a second.
 */
export function createStatusLookup(database: Database, storageRoot: string) {
  const markOf = ({ diskPath }: Project) => join(storageRoot, diskPath, markFile)
  const known = new LRUCache<string, { mark: string; statuses: Counted }>({
    max: rememberedMax,
    ttl: knownMs,
  })
  return {
    async find(project: Project, sha: string): Promise<Counted> {
      // Read before the database is asked, so that a post in between shows as a change of the mark.
      const mark = readMark(markOf(project))
      const key = `${project.id} ${sha}`
      const found = known.get(key)
      if (found?.mark === mark) return found.statuses
      const statuses = await listCountedStatuses(database, project.id, sha)
      known.set(key, { mark, statuses })
      return statuses
    },
    /** Marks that statuses of the project may have changed. To be called before the post is answered. */
    hasChanged(project: Project): void {
      writeMark(markOf(project))
    },
  }
}

function readMark(file: string): string {
  return statSync(file, { throwIfNoEntry: false }) ? readFileSync(file, 'latin1') : 'none'
}

/** All marks have the same length, so a new mark overwrites the last one. */
function writeMark(path: string): void {
  try {
    const file = openSync(path, constants.O_WRONLY | constants.O_CREAT, 0o644)
    try {
      writeSync(file, randomUUID(), 0)
    } finally {
      closeSync(file)
    }
  } catch (error) {
    // The repository and its statuses are being removed.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
