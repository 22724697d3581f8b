import { followFlags } from '../webhooks/follow-flags.js'
import { followDecidedSagas } from '../webhooks/follow-sagas.js'
import { type JobDependencies, jobType } from './job-type.js'

/** Stores deliveries to webhooks for sagas that have ended, failed, or been resolved, and for flags that were set. */
export const webhookSagaEvents = ({ database, webhooks }: Pick<JobDependencies, 'database' | 'webhooks'>) =>
  jobType({
    queue: 'webhook-saga-events',
    concurrency: 1,
    timeoutMs: 5 * 60_000,
    schedule: { everyMs: 5000, attempts: 1, retryDelayMs: 1000 },
    async run(_payload, { signal, logger }) {
      const options = { database, externalUrl: webhooks.externalUrl, signal }
      const stored = (await followFlags(options)) + (await followDecidedSagas(options))
      if (stored > 0) logger.info({ stored }, 'stored deliveries of webhooks')
    },
  })
