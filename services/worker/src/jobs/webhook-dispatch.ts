import { webhookDeliveryJob } from '@switchyard/contracts/jobs'
import { listHostsWithDueDeliveries } from '@switchyard/db'
import { type JobDependencies, jobType } from './job-type.js'

/**
 * Starts the sending of what is due. What has to be sent stands in the database alone, so nothing is lost with
 * Redis: the next run finds it again.
 */
export const webhookDispatch = ({ database, webhooks }: Pick<JobDependencies, 'database' | 'webhooks'>) =>
  jobType({
    queue: 'webhook-dispatch',
    concurrency: 1,
    timeoutMs: 60_000,
    schedule: { everyMs: 2000, attempts: 1, retryDelayMs: 1000 },
    async run() {
      const hosts = await listHostsWithDueDeliveries(database)
      await Promise.all(hosts.map((host) => webhooks.producer.add(webhookDeliveryJob(host))))
    },
  })
