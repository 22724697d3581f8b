import { join } from 'node:path'
import { findDiskPath } from '@switchyard/db'
import { tidyRepository } from '../git/tidy-repository.js'
import { type JobDependencies, jobType } from './job-type.js'

/**
 * Tidies the repository of a project after a push. A project or a repository that is gone by now is
 * nothing to do. How jobs of one project are gathered is in `repositoryHousekeepingJob` of the contracts.
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
      const found = await tidyRepository(join(storageRoot, diskPath), signal)
      logger.info({ projectId }, found ? 'tidied the repository' : 'the project has no repository')
    },
  })
