import { setTimeout as delay } from 'node:timers/promises'
import {
  advanceSagaCursor,
  chooseHorizon,
  type Database,
  enqueueDeliveries,
  lastSagaEventId,
  listDecidedSagas,
  listFailedActivities,
  listSagaWebhooks,
  readSagaCursor,
  type SagaNews,
  type SagaWebhook,
  settledHorizon,
} from '@switchyard/db'
import { decided, deliveriesOf } from './saga-deliveries.js'

export interface FollowOptions {
  database: Database
  /** Base of links in the payload. */
  externalUrl: string | undefined
  signal: AbortSignal
}

const decisions = ['saga.error', 'saga.ended', 'saga.resolved']
/** Events that one query covers. */
const chunkIds = 5000
const sagasAtOnce = 500
/** A statement that took an event id has a transaction id after this time at the latest. */
const allottedMs = 250
const settleTries = 20
const settleWaitMs = 100

/** Bounds of the errors in a payload. */
export const payloadErrors = { ofEachMax: 20, textMax: 1000 }

/**
 * Stores deliveries for sagas that have become Ended, Error or resolved since the last run. Safe to run twice at once and
 * to be interrupted anywhere: a delivery that is stored twice is one delivery.
 *
 * @returns deliveries that are new
 */
export async function followDecidedSagas(options: FollowOptions): Promise<number> {
  const { database, signal } = options
  const horizon = await awaitHorizon(database)
  if (horizon === null) return 0
  const webhooks = await listSagaWebhooks(database)
  const wanted = webhooks.filter(({ events }) => events.some((event) => decisions.includes(event)))
  if (wanted.length === 0) {
    await advanceSagaCursor(database, String(horizon))
    return 0
  }
  let stored = 0
  let position = BigInt((await readSagaCursor(database)).position)
  while (position < horizon && !signal.aborted) {
    const next = position + BigInt(chunkIds)
    const upTo = next < horizon ? next : horizon
    const range = { after: String(position), upTo: String(upTo) }
    for (const tenant of new Set(wanted.map((webhook) => webhook.tenant))) {
      const sagas = await listDecidedSagas(database, tenant, range)
      stored += await storeSagaDeliveries(options, tenant, sagas, wanted)
    }
    await advanceSagaCursor(database, range.upTo)
    position = upTo
  }
  return stored
}

/** Id up to which the log can be read; null without new events, or while their transactions are still open. */
async function awaitHorizon(database: Database): Promise<bigint | null> {
  const { position, horizon } = await readSagaCursor(database)
  if (horizon === null) {
    const last = await lastSagaEventId(database)
    if (BigInt(last) <= BigInt(position)) return null
    await delay(allottedMs)
    await chooseHorizon(database, last)
  }
  for (let tries = 0; tries < settleTries; tries += 1) {
    const settled = await settledHorizon(database)
    if (settled !== null) return BigInt(settled)
    await delay(settleWaitMs)
  }
  return null
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
      return decided(saga, activities)
    })
    const deliveries = occurrences.flatMap((occurrence) => deliveriesOf(occurrence, webhooks, externalUrl))
    stored += (await enqueueDeliveries(database.pool, deliveries)).length
  }
  return stored
}
