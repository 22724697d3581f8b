import { type JobPayload, queueNames } from './queues.js'

/** Pushes come in bursts; the first of them starts this wait, the others join it. */
const gatherMs = 5000

/**
 * The job that tidies a repository after a push, as the arguments of BullMQ's `queue.add`. Any number of
 * them for one project costs one run; one that comes while a run is under way costs one more run after it.
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
