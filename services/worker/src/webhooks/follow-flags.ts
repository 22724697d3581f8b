import {
  advanceFlagCursor,
  type Database,
  enqueueDeliveries,
  type FlagKey,
  listFailedActivities,
  listNewFlags,
  listSagaNews,
  listSagaWebhooks,
  readSagaCursor,
  type SagaFlagNews,
  type SagaWebhook,
} from '@switchyard/db'
import { type FollowOptions, payloadErrors } from './follow-sagas.js'
import { deliveriesOf, flagged } from './saga-deliveries.js'

const flagsAtOnce = 500
/** The date of a flag is the start of its transaction. The flag becomes visible up to this much later. */
const overlapMs = 30_000

/**
 * Stores deliveries for flags that were set since the last run. Safe to run twice at once and to be interrupted anywhere:
 * a delivery that is stored twice is one delivery.
 *
 * @returns deliveries that are new
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
  const deliveries = flags.flatMap((flag) =>
    deliveriesOf(
      flagged(
        flag,
        sagas.find(({ id }) => id === flag.sagaId) ?? null,
        failed.filter(({ sagaId }) => sagaId === flag.sagaId),
      ),
      webhooks,
      externalUrl,
    ),
  )
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
