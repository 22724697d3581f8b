import { encryptStoredSecrets } from '@switchyard/webhooks'
import { type JobDependencies, jobType } from './job-type.js'

/**
 * Encrypts the secrets of webhooks with the first key of `WEBHOOK_SECRET_KEYS`: those that older versions stored
 * unencrypted, and after a change of keys those that another key encrypted.
 */
export const webhookSecretEncryption = ({
  database,
  webhooks,
}: Pick<JobDependencies, 'database' | 'webhooks'>) =>
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
