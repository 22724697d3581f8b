import { type JobPayload, queueNames } from './queues.js'

/**
 * Time for which the jobs of pushes are gathered. Pushes come in bursts: the first push starts the wait, and
 * the next ones share its job.
 */
const gatherMs = 5000

/**
 * Returns the name of the queue for the repositories of a storage, whose jobs only the workers at that
 * storage can do.
 */
export const repositoryHousekeepingQueue = (storage: string): string =>
  storage === 'default'
    ? queueNames.repositoryHousekeeping
    : `${queueNames.repositoryHousekeeping}-${storage}`

/** Pattern of the queues of storages other than `default`. */
export const furtherHousekeepingQueue = /^repository-housekeeping-[a-z0-9][a-z0-9-]{0,62}$/

/**
 * Returns the job that tidies a repository after a push, as the arguments of BullMQ's `queue.add`. Jobs that
 * are added for one project before its run become one run; jobs that are added during the run become one
 * further run.
 *
 * @example await queue.add(job.name, job.data, job.options)
 */
export function repositoryHousekeepingJob(projectId: number) {
  const data: JobPayload<'repository-housekeeping'> = { projectId }
  return {
    name: queueNames.repositoryHousekeeping,
    data,
    options: {
      delay: gatherMs,
      deduplication: { id: `project-${projectId}`, keepLastIfActive: true },
      attempts: 3,
      backoff: { type: 'exponential', delay: 30_000 },
    },
  }
}
