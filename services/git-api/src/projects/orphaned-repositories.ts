import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Database } from '@switchyard/db'
import type { Git } from '@switchyard/git-storage/git'
import {
  type FoundRepository,
  hasNoObjects,
  isUntouchedSince,
  listRepositories,
} from '@switchyard/git-storage/housekeeping'
import { removeStaleUploads } from '@switchyard/git-storage/lfs'
import { diskPathOf } from '@switchyard/git-storage/repository-files'
import { type Repeated, repeat } from '@switchyard/service-kit/lifecycle'
import type { Logger } from '@switchyard/service-kit/observability'
import { listDestroyedProjects, listKnownDiskPaths } from './store.js'

interface Dependencies {
  database: Database
  git: Git
  storageRoot: string
  logger: Logger
}

/** Times: files that were changed later stay. */
interface Limits {
  repositoriesBefore: Date
  uploadsBefore: Date
}

const pauseMs = 30 * 60_000
/** Longer than any request that creates or deletes a repository. */
const ageMs = 60 * 60_000
/**
 * Time limit for flushing a complete upload to disk and counting it. Nothing is written to its file
 * meanwhile.
 */
const flushMsMax = 10 * 60_000

/**
 * Starts removing what killed processes left of deleted projects, of creations and of uploads. This work is
 * here and not in the worker, because only git-api may read in the audit log which projects were deleted, and
 * knows how long an upload may stall.
 */
export const startRemovingOrphans = ({
  transferIdleMs,
  ...deps
}: Dependencies & { transferIdleMs: number }): Repeated =>
  repeat(
    (signal) => {
      const now = Date.now()
      const limits = {
        repositoriesBefore: new Date(now - ageMs),
        uploadsBefore: new Date(now - transferIdleMs - flushMsMax),
      }
      return removeOrphans(deps, limits, signal)
    },
    pauseMs,
    (err) =>
      deps.logger.warn({ err }, 'could not look for files that killed processes left; trying again soon'),
  )

export async function removeOrphans(
  deps: Dependencies,
  { repositoriesBefore, uploadsBefore }: Limits,
  signal?: AbortSignal,
): Promise<void> {
  const { database, storageRoot, logger } = deps
  let destroyed: Promise<Set<string>> | undefined
  const wasDestroyed = async (diskPath: string) => {
    destroyed ??= listDestroyedProjects(database).then((ids) => new Set(ids.map(diskPathOf)))
    return (await destroyed).has(diskPath)
  }
  for await (const found of listRepositories(storageRoot)) {
    signal?.throwIfAborted()
    const known = await listKnownDiskPaths(database, [...new Set(found.map(({ diskPath }) => diskPath))])
    const orphans = found.filter(({ diskPath, isLeftover }) => isLeftover || !known.has(diskPath))
    for (const { path } of found) {
      await removeStaleUploads({ path: join(storageRoot, path) }, uploadsBefore).catch((err: unknown) =>
        logger.error({ err, disk_path: path }, 'could not remove interrupted uploads'),
      )
    }
    for (const orphan of orphans) {
      if (!(await isUntouchedSince(join(storageRoot, orphan.path), repositoriesBefore))) continue
      await remove(deps, orphan, wasDestroyed).catch((err: unknown) =>
        logger.error({ err, disk_path: orphan.path }, 'could not remove a repository without a project'),
      )
    }
  }
}

/**
 * Removes an orphan. A whole repository is removed only when its project was deleted here or when it is
 * empty, because with the wrong database no repository has a project.
 */
async function remove(
  { git, storageRoot, logger }: Dependencies,
  { diskPath, path, isLeftover }: FoundRepository,
  wasDestroyed: (diskPath: string) => Promise<boolean>,
): Promise<void> {
  const fields = { disk_path: path }
  if (isLeftover) await rm(join(storageRoot, path), { recursive: true, force: true })
  else if ((await wasDestroyed(diskPath)) || (await hasNoObjects(join(storageRoot, path))))
    await git.deleteRepository(path)
  else return logger.warn(fields, 'kept a repository that never had a project in this database')
  logger.info(fields, 'removed a repository without a project')
}
