import { join } from 'node:path'
import { repositoryHousekeepingQueue } from '@switchyard/contracts/jobs'
import {
  type Database,
  deleteLfsObjects,
  findRepositoryBytes,
  findRepositoryLocation,
  listReleasedLfsObjects,
  noteCountedBytes,
  reclaimLfsObjects,
  withMaintenanceLock,
} from '@switchyard/db'
import { tidyRepository } from '@switchyard/git-storage/housekeeping'
import { countBytes } from '@switchyard/git-storage/repository-files'
import { jobType } from '../job-type.js'

interface HousekeepingDependencies {
  database: Database
  /** Name of this process's storage. */
  storage: string
  /** Folder of the storage's bare repositories. */
  storageRoot: string
  /** Number of repositories that are tidied at once. */
  housekeepingConcurrency: number
}

/**
 * Runs housekeeping of a project's repository after a push; does nothing when the project or its repository
 * no longer exists. A lock prevents two processes from tidying the same repository, which would happen when
 * Redis mistakes a running job for a stalled one. `repositoryHousekeepingJob` of the contracts describes how
 * several pushes share one job.
 */
export const repositoryHousekeeping = ({
  database,
  storage,
  storageRoot,
  housekeepingConcurrency,
}: HousekeepingDependencies) =>
  jobType({
    queue: 'repository-housekeeping',
    queueName: repositoryHousekeepingQueue(storage),
    concurrency: housekeepingConcurrency,
    timeoutMs: 30 * 60_000,
    async run({ projectId }, { signal, logger }) {
      const alone = await withMaintenanceLock(database, projectId, async (lockLost) => {
        // The lock also prevents moves of the repository to another storage.
        const location = await findRepositoryLocation(database, projectId)
        if (location?.storage !== storage)
          return logger.info({ project_id: projectId }, 'the project is gone or in another storage')
        const { diskPath } = location
        const found = await tidyRepository(join(storageRoot, diskPath), AbortSignal.any([signal, lockLost]), {
          lfsObjectNotes: {
            listReleased: () => listReleasedLfsObjects(database, projectId),
            reclaim: (oids) => reclaimLfsObjects(database, projectId, oids),
            forget: (oids) => deleteLfsObjects(database, projectId, oids),
          },
        })
        if (found) await countAnew(database, projectId, join(storageRoot, diskPath), signal)
        logger.info(
          { project_id: projectId },
          found ? 'tidied the repository' : 'the project has no repository',
        )
      })
      // The other run may have begun before the push of this job, so this job is tried again later.
      if (!alone) throw new Error('another process tidies this repository')
    },
  })

/**
 * Counts the repository's size again, because tidying makes it smaller, and a killed process may have counted
 * bytes that it did not store.
 */
async function countAnew(database: Database, projectId: number, path: string, signal: AbortSignal) {
  const notedBefore = await findRepositoryBytes(database, projectId)
  await noteCountedBytes(database, projectId, { counted: await countBytes({ path, signal }), notedBefore })
}
