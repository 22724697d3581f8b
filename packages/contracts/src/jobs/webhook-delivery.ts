import { type JobPayload, queueNames } from './queues.js'

/**
 * Returns the job that sends the due deliveries of a host, as the arguments of BullMQ's `queue.add`. At most
 * one job of a host runs at a time, among all workers, so that a host that does not answer occupies only one
 * worker slot. Jobs that are added during a run become one further run.
 *
 * @example await queue.add(job.name, job.data, job.options)
 */
export function webhookDeliveryJob(host: string) {
  const data: JobPayload<'webhook-delivery'> = { host }
  return {
    name: queueNames.webhookDelivery,
    data,
    options: {
      deduplication: { id: `host-${host}`, keepLastIfActive: true },
      attempts: 1,
      removeOnFail: true,
    },
  }
}
