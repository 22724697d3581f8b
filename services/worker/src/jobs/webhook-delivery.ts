import { deliverToHost } from '@switchyard/webhooks'
import { type JobDependencies, jobType } from './job-type.js'

/** Then other hosts get their turn; what is left is begun again by the next dispatch. */
const turnMs = 30_000

/** Sends what is due to one host. */
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
