import { randomUUID } from 'node:crypto'
import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Database, Project } from '@switchyard/db'
import { aggregateStatus } from '@switchyard/domain/commit-status'
import type { Logger } from '@switchyard/service-kit/observability'
import { LRUCache } from 'lru-cache'
import type { CommitState } from '../../repository/commits/commits.js'
import { findJobOfCommit } from '../../repository/references/store.js'
import { findLastPipeline } from '../pipelines/store.js'
import { listCountedStatuses } from './store.js'

/** Longest time for which a state stays outdated when a process ends before it writes the mark. */
const knownMs = 1_000
const rememberedMax = 10_000
/** A file in the folder of a repository; git ignores unknown files. */
const markFile = 'switchyard-statuses'

export type StatusLookup = ReturnType<typeof createStatusLookup>

/**
 * Finds the state of a commit. Before a post of a status is answered, it writes a new mark into the folder of
 * the repository, which all replicas share. Reading the mark takes a few microseconds, so the database is
 * only asked when the mark has changed, or after a second.
 */
export function createStatusLookup(database: Database, storageRoot: string, logger: Logger) {
  const markOf = ({ diskPath }: Project) => join(storageRoot, diskPath, markFile)
  const known = new LRUCache<string, { mark: string; state: CommitState }>({
    max: rememberedMax,
    ttl: knownMs,
  })
  return {
    async find(project: Project, sha: string): Promise<CommitState> {
      // The mark is read before the database, so that a post in between shows as a change of the mark.
      const mark = readMark(markOf(project))
      const key = `${project.id} ${sha}`
      const found = known.get(key)
      if (found?.mark === mark) return found.state
      const [counted, lastPipeline, job] = await Promise.all([
        listCountedStatuses(database, project.id, sha),
        findLastPipeline(database, project.id, sha),
        findJobOfCommit(database, project.id, sha),
      ])
      const state = { status: aggregateStatus(counted), lastPipeline, job }
      known.set(key, { mark, state })
      return state
    },
    /**
     * Marks that statuses of the project may have changed. Call it before the post is answered. A post does
     * not fail with the mark: without it, for example on a full disk, the former state is shown for a second.
     */
    invalidate(project: Project): void {
      try {
        writeMark(markOf(project))
      } catch (err) {
        // When the folder is missing, the repository and its statuses are being removed.
        if (!isMissing(err))
          logger.warn({ err, project_id: project.id }, 'could not write the mark of new statuses')
      }
    },
  }
}

const isMissing = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT'

function readMark(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch (error) {
    if (isMissing(error)) return 'none'
    throw error
  }
}

/** Overwrites the mark. All marks have the same length. */
function writeMark(path: string): void {
  const file = openSync(path, constants.O_WRONLY | constants.O_CREAT, 0o644)
  try {
    writeSync(file, randomUUID(), 0)
  } finally {
    closeSync(file)
  }
}
