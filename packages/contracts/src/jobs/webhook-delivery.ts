import { type JobPayload, queueNames } from './queues.js'

/**
 * The job that sends what is due to a host, as the arguments of BullMQ's `queue.add`. There is never more than one
 * at work for a host, however many workers there are, so a host that does not answer holds up nobody else. One that
 * is asked for while it is at work runs once more after it.
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
