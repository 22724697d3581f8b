import { type JobPayload, queueNames } from './queues.js'

/** Pushes come in bursts: the first one starts this wait, and the next ones share its job. */
const gatherMs = 5000

/** The queue of the jobs for the repositories of a storage, which only the workers beside it can do. */
export const repositoryHousekeepingQueue = (storage: string): string =>
  storage === 'default'
    ? queueNames.repositoryHousekeeping
    : `${queueNames.repositoryHousekeeping}-${storage}`

/** Names of the queues of the storages besides `default`. */
export const furtherHousekeepingQueue = /^repository-housekeeping-[a-z0-9][a-z0-9-]{0,62}$/

/**
 * The job that tidies a repository after a push, as the arguments of BullMQ's `queue.add`. Jobs that are
 * added for one project before its run become one run; jobs that are added during the run become one further
 * run.
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
