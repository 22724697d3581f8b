import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Database, listDestroyedProjects, listKnownDiskPaths } from '@switchyard/db'
import type { Git } from '@switchyard/git-storage/git'
import {
  type FoundRepository,
  hasNoObjects,
  isUntouchedSince,
  listRepositories,
} from '@switchyard/git-storage/list-repositories'
import { diskPathOf } from '@switchyard/git-storage/repository-files'
import type { Logger } from '@switchyard/service-kit/observability'
import { type Repeated, repeat } from '../repeat.js'

interface Needs {
  database: Database
  git: Git
  storageRoot: string
  logger: Logger
}

const pauseMs = 30 * 60_000
/** Longer than any request that creates or deletes a repository. */
const ageMs = 60 * 60_000

/**
 * Removes what processes that were killed left of deleted projects and of creations. This happens here and not in the worker,
 * because only git-api may read in the audit log which projects were deleted.
 */
export const startRemovingStrays = (needs: Needs): Repeated =>
  repeat(
    (signal) => removeStrayRepositories(needs, new Date(Date.now() - ageMs), signal),
    pauseMs,
    (err) =>
      needs.logger.warn({ err }, 'could not look for repositories without a project; tried again soon'),
  )

/** @param before what was touched later stays */
export async function removeStrayRepositories(
  needs: Needs,
  before: Date,
  signal?: AbortSignal,
): Promise<void> {
  const { database, storageRoot, logger } = needs
  let destroyed: Promise<Set<string>> | undefined
  const wasDestroyed = async (diskPath: string) => {
    destroyed ??= listDestroyedProjects(database).then((ids) => new Set(ids.map(diskPathOf)))
    return (await destroyed).has(diskPath)
  }
  for await (const found of listRepositories(storageRoot)) {
    signal?.throwIfAborted()
    const known = await listKnownDiskPaths(database, [...new Set(found.map(({ diskPath }) => diskPath))])
    const nameless = found.filter(({ diskPath, isLeftover }) => isLeftover || !known.has(diskPath))
    for (const stray of nameless) {
      if (!(await isUntouchedSince(join(storageRoot, stray.path), before))) continue
      await remove(needs, stray, wasDestroyed).catch((err: unknown) =>
        logger.error({ err, disk_path: stray.path }, 'could not remove a repository without a project'),
      )
    }
  }
}

/**
 * A whole repository goes only when its project was deleted here, or when it is empty: with the wrong database, no repository has a
 * project.
 */
async function remove(
  { git, storageRoot, logger }: Needs,
  { diskPath, path, isLeftover }: FoundRepository,
  wasDestroyed: (diskPath: string) => Promise<boolean>,
): Promise<void> {
  const fields = { disk_path: path }
  if (isLeftover) await rm(join(storageRoot, path), { recursive: true, force: true })
  else if ((await wasDestroyed(diskPath)) || (await hasNoObjects(join(storageRoot, path))))
    await git.deleteRepository(path)
  else return logger.warn(fields, 'a repository belongs to no project that this database has had')
  logger.info(fields, 'removed a repository without a project')
}
