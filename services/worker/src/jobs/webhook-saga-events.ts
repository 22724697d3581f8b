import { followFlags } from '../webhooks/follow-flags.js'
import { followDecidedSagas } from '../webhooks/follow-sagas.js'
import { type JobDependencies, jobType } from './job-type.js'

/** Notes what webhooks have to be told of sagas: those that have ended or failed, and those that sweeps flagged. */
export const webhookSagaEvents = ({ database, webhooks }: Pick<JobDependencies, 'database' | 'webhooks'>) =>
  jobType({
    queue: 'webhook-saga-events',
    concurrency: 1,
    timeoutMs: 5 * 60_000,
    schedule: { everyMs: 5000, attempts: 1, retryDelayMs: 1000 },
    async run(_payload, { signal, logger }) {
      const options = { database, externalUrl: webhooks.externalUrl, signal }
      const noted = (await followFlags(options)) + (await followDecidedSagas(options))
      if (noted > 0) logger.info({ noted }, 'noted deliveries of webhooks')
    },
  })
