import { expiredTokenCleanup } from './expired-token-cleanup.js'
import type { JobDependencies, JobType } from './job-type.js'
import { repositoryHousekeeping } from './repository-housekeeping.js'
import { sagaEventPartitions } from './saga-event-partitions.js'

/** Every kind of job that a worker runs. */
export const jobTypes = (dependencies: JobDependencies): JobType[] => [
  repositoryHousekeeping(dependencies),
  expiredTokenCleanup(dependencies),
  sagaEventPartitions(dependencies),
]
