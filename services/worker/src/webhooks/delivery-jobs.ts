import { queueNames, webhookDeliveryJob } from '@switchyard/contracts/jobs'
import type { Database } from '@switchyard/db'
import { type Clock, dayMs } from '@switchyard/domain'
import { encryptStoredSecrets } from '@switchyard/webhooks'
import { jobType, type Producer } from '../job-type.js'
import { deleteInBatches } from '../sweeps.js'
import { deliverToHost } from './deliver.js'
import { deleteDeliveriesBefore, listHostsWithDueDeliveries } from './delivery-store.js'
import { HostTurns, turnsMax } from './host-turns.js'
import type { WebhookTools } from './webhooks.js'

/**
 * Starts sending due deliveries, with one job for each host. Deliveries are only stored in the database, so
 * when Redis loses a job, the next run finds its deliveries again.
 */
export const webhookDispatch = ({ database, producer }: { database: Database; producer: Producer }) =>
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

/**
 * Sends the due deliveries of one host. The job does nothing when the host gets no turn; the next
 * dispatch then adds another job.
 */
export function webhookDelivery({ database, webhooks }: { database: Database; webhooks: WebhookTools }) {
  const turns = new HostTurns()
  return jobType({
    queue: 'webhook-delivery',
    concurrency: turnsMax,
    timeoutMs: 2 * 60_000,
    run: ({ host }, { signal, logger }) =>
      turns.run(host, (mayContinue) =>
        deliverToHost(host, {
          database,
          sender: webhooks.sender,
          secretBox: webhooks.secretBox,
          mayContinue: () => !signal.aborted && mayContinue(),
          onDelivered(delivered) {
            webhooks.count(delivered)
            const { webhookId, deliveryId, result, disabled } = delivered
            const fields = { webhook_id: webhookId, delivery_id: deliveryId, result }
            if (disabled === null) logger.debug(fields, 'sent a webhook')
            else logger.warn({ ...fields, reason: disabled }, 'disabled a webhook')
          },
        }),
      ),
  })
}

const keptMs = 30 * dayMs
const rowsAtOnce = 5000

/** Deletes deliveries of webhooks that are over 30 days old. */
export const webhookRetention = ({ database, clock }: { database: Database; clock: Clock }) =>
  jobType({
    queue: 'webhook-retention',
    concurrency: 1,
    timeoutMs: 30 * 60_000,
    schedule: { pattern: '40 * * * *', attempts: 5, retryDelayMs: 10_000 },
    async run(_payload, { signal, logger }) {
      const before = new Date(clock().getTime() - keptMs)
      const deleted = await deleteInBatches(
        rowsAtOnce,
        () => !signal.aborted,
        (rowsMax) => deleteDeliveriesBefore(database, before, rowsMax),
      )
      if (deleted > 0) logger.info({ deleted }, 'deleted old deliveries of webhooks')
    },
  })

/**
 * Encrypts secrets of webhooks with the first key of `WEBHOOK_SECRET_KEYS`, if they are stored unencrypted or
 * with another key.
 */
export const webhookSecretEncryption = ({
  database,
  webhooks,
}: {
  database: Database
  webhooks: WebhookTools
}) =>
  jobType({
    queue: 'webhook-secret-encryption',
    concurrency: 1,
    timeoutMs: 10 * 60_000,
    schedule: { pattern: '50 * * * *', atStart: true, attempts: 5, retryDelayMs: 10_000 },
    async run(_payload, { signal, logger }) {
      const { encrypted, unreadable } = await encryptStoredSecrets(database, webhooks.secretBox, signal)
      if (encrypted > 0) logger.info({ encrypted }, 'encrypted secrets of webhooks with the first key')
      if (unreadable > 0) logger.error({ unreadable }, 'could not decrypt secrets of webhooks')
    },
  })
