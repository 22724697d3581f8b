import { queueNames, webhookDeliveryJob } from '@switchyard/contracts/jobs'
import { listHostsWithDueDeliveries } from '@switchyard/db'
import { type JobDependencies, jobType } from './job-type.js'

/**
 * Starts the sending of due deliveries, with a job for each host. Deliveries are stored in the database alone: when Redis
 * loses a job, the next run finds its deliveries again.
 */
export const webhookDispatch = ({ database, producer }: Pick<JobDependencies, 'database' | 'producer'>) =>
  jobType({
    queue: 'webhook-dispatch',
    concurrency: 1,
    timeoutMs: 60_000,
    schedule: { everyMs: 2000, attempts: 1, retryDelayMs: 1000 },
    async run() {
      const hosts = await listHostsWithDueDeliveries(database)
      await producer.addAll(queueNames.webhookDelivery, hosts.map(webhookDeliveryJob))
    },
  })
