import { deliverToHost } from '@switchyard/webhooks'
import { type JobDependencies, jobType } from './job-type.js'

/** A job ends after this time, so that other hosts get their turn. The next dispatch continues with the deliveries of its host. */
const turnMs = 30_000

/** Sends the due deliveries of one host. */
export const webhookDelivery = ({ database, webhooks }: Pick<JobDependencies, 'database' | 'webhooks'>) =>
  jobType({
    queue: 'webhook-delivery',
    concurrency: 16,
    timeoutMs: 2 * 60_000,
    async run({ host }, { signal, logger }) {
      await deliverToHost(host, {
        database,
        sender: webhooks.sender,
        secretBox: webhooks.secretBox,
        signal: AbortSignal.any([signal, AbortSignal.timeout(turnMs)]),
        onDelivered(delivered) {
          webhooks.count(delivered)
          const { webhookId, deliveryId, result, disabled } = delivered
          const fields = { webhook_id: webhookId, delivery_id: deliveryId, result }
          if (disabled === null) logger.debug(fields, 'sent a webhook')
          else logger.warn({ ...fields, reason: disabled }, 'disabled a webhook')
        },
      })
    },
  })
