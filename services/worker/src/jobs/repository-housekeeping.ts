import { join } from 'node:path'
import { findDiskPath, withRepositoryLock } from '@switchyard/db'
import { tidyRepository } from '@switchyard/git-storage'
import { type JobDependencies, jobType } from './job-type.js'

/**
 * Tidies the repository of a project after a push. A project or a repository that is gone by now is
 * nothing to do. How jobs of one project are gathered is in `repositoryHousekeepingJob` of the contracts; a
 * job that Redis has lost sight of and given to a second process still runs only once at a time.
 */
export const repositoryHousekeeping = ({
  database,
  storageRoot,
  housekeepingConcurrency,
}: Omit<JobDependencies, 'clock'>) =>
  jobType({
    queue: 'repository-housekeeping',
    concurrency: housekeepingConcurrency,
    timeoutMs: 30 * 60_000,
    async run({ projectId }, { signal, logger }) {
      const diskPath = await findDiskPath(database, projectId)
      if (diskPath === null) return logger.info({ projectId }, 'no such project any more')
      const alone = await withRepositoryLock(database, projectId, async (lockLost) => {
        const found = await tidyRepository(join(storageRoot, diskPath), AbortSignal.any([signal, lockLost]))
        logger.info({ projectId }, found ? 'tidied the repository' : 'the project has no repository')
      })
      // The other run may have begun before the push that this one is for, so it is tried again later.
      if (!alone) throw new Error('another process tidies this repository')
    },
  })
