import type { Database } from '@switchyard/db'
import { findLogHorizon } from '@switchyard/saga-store'
import { enqueueDeliveries, type SagaNews } from '@switchyard/webhooks'
import { jobType } from '../job-type.js'
import { deliveriesOf, finished, flagged } from './saga-deliveries.js'
import {
  advanceFlagCursor,
  advanceSagaCursor,
  type FlagKey,
  listFailedActivities,
  listFinishedSagas,
  listNewFlags,
  listSagaNews,
  listSagaWebhooks,
  readSagaCursor,
  type SagaFlagNews,
  type SagaWebhook,
} from './saga-events-store.js'
import type { WebhookTools } from './webhooks.js'

/**
 * Stores deliveries to webhooks for sagas that have ended, failed, or been resolved, and for flags that were
 * set.
 */
export const webhookSagaEvents = ({ database, webhooks }: { database: Database; webhooks: WebhookTools }) =>
  jobType({
    queue: 'webhook-saga-events',
    concurrency: 1,
    timeoutMs: 5 * 60_000,
    schedule: { everyMs: 5000, attempts: 1, retryDelayMs: 1000 },
    async run(_payload, { signal, logger }) {
      const options = { database, externalUrl: webhooks.externalUrl, signal }
      const stored = (await followFlags(options)) + (await followFinishedSagas(options))
      if (stored > 0) logger.info({ stored }, 'stored deliveries of webhooks')
    },
  })

interface FollowOptions {
  database: Database
  /** Base of links in the payload. */
  externalUrl: string | undefined
  signal: AbortSignal
}

const finishes = ['saga.error', 'saga.ended', 'saga.resolved']
/** Number of events that one query covers. */
const chunkIds = 5000
const sagasAtOnce = 500

/** Limits of the errors in a payload. */
const payloadErrors = { ofEachMax: 20, textMax: 1000 }

/**
 * Stores deliveries for sagas that have become Ended, Error or resolved since the last run. It may run twice
 * at once and be interrupted anywhere, because a delivery that is stored twice is one delivery.
 *
 * @returns the number of new deliveries
 */
export async function followFinishedSagas(options: FollowOptions): Promise<number> {
  const { database, signal } = options
  const found = await findLogHorizon(database)
  if (found === null) return 0
  const horizon = BigInt(found)
  let position = BigInt((await readSagaCursor(database)).position)
  if (horizon <= position) return 0
  const webhooks = await listSagaWebhooks(database)
  const wanted = webhooks.filter(({ events }) => events.some((event) => finishes.includes(event)))
  if (wanted.length === 0) {
    await advanceSagaCursor(database, String(horizon))
    return 0
  }
  let stored = 0
  while (position < horizon && !signal.aborted) {
    const next = position + BigInt(chunkIds)
    const upTo = next < horizon ? next : horizon
    const range = { after: String(position), upTo: String(upTo) }
    for (const tenant of new Set(wanted.map((webhook) => webhook.tenant))) {
      const sagas = await listFinishedSagas(database, tenant, range)
      stored += await storeSagaDeliveries(options, tenant, sagas, wanted)
    }
    await advanceSagaCursor(database, range.upTo)
    position = upTo
  }
  return stored
}

async function storeSagaDeliveries(
  { database, externalUrl }: FollowOptions,
  tenant: string,
  sagas: SagaNews[],
  webhooks: SagaWebhook[],
): Promise<number> {
  let stored = 0
  for (let start = 0; start < sagas.length; start += sagasAtOnce) {
    const some = sagas.slice(start, start + sagasAtOnce)
    const ids = some.map(({ id }) => id)
    const failed = await listFailedActivities(database, tenant, ids, payloadErrors)
    const occurrences = some.flatMap((saga) => {
      const activities = failed.filter(({ sagaId }) => sagaId === saga.id)
      return finished(saga, activities)
    })
    const deliveries = deliveriesOf(occurrences, webhooks, externalUrl)
    stored += (await enqueueDeliveries(database.pool, deliveries)).length
  }
  return stored
}

const flagsAtOnce = 500
/** Longest time after which a flag becomes visible, because its date is the start of its transaction. */
const overlapMs = 30_000

/**
 * Stores deliveries for flags that were set since the last run. It may run twice at once and be interrupted
 * anywhere, because a delivery that is stored twice is one delivery.
 *
 * @returns the number of new deliveries
 */
export async function followFlags(options: FollowOptions): Promise<number> {
  const { database, signal } = options
  const webhooks = await listSagaWebhooks(database)
  const { flagsSetAt, now } = await readSagaCursor(database)
  const setSince = new Date(flagsSetAt.getTime() - overlapMs)
  let stored = 0
  let after: FlagKey | null = null
  for (;;) {
    const flags: SagaFlagNews[] = await listNewFlags(database, { setSince, after, rowsMax: flagsAtOnce })
    after = flags.at(-1) ?? after
    for (const [tenant, some] of byTenant(flags))
      stored += await storeFlagDeliveries(options, tenant, some, webhooks)
    if (flags.length < flagsAtOnce) break
    if (signal.aborted) return stored
  }
  await advanceFlagCursor(database, now)
  return stored
}

async function storeFlagDeliveries(
  { database, externalUrl }: FollowOptions,
  tenant: string,
  flags: SagaFlagNews[],
  webhooks: SagaWebhook[],
): Promise<number> {
  if (!webhooks.some((webhook) => webhook.tenant === tenant)) return 0
  const ids = [...new Set(flags.map(({ sagaId }) => sagaId).filter((id) => id !== ''))]
  const [sagas, failed] = await sagasAndErrors(database, tenant, ids)
  const occurrences = flags.map((flag) =>
    flagged(
      flag,
      sagas.find(({ id }) => id === flag.sagaId) ?? null,
      failed.filter(({ sagaId }) => sagaId === flag.sagaId),
    ),
  )
  const deliveries = deliveriesOf(occurrences, webhooks, externalUrl)
  return (await enqueueDeliveries(database.pool, deliveries)).length
}

const sagasAndErrors = (database: Database, tenant: string, ids: string[]) =>
  Promise.all([
    listSagaNews(database, tenant, ids),
    listFailedActivities(database, tenant, ids, payloadErrors),
  ])

function byTenant(flags: SagaFlagNews[]): Map<string, SagaFlagNews[]> {
  const groups = new Map<string, SagaFlagNews[]>()
  for (const flag of flags) groups.set(flag.tenant, [...(groups.get(flag.tenant) ?? []), flag])
  return groups
}
