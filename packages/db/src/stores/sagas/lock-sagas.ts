import { createHash } from 'node:crypto'
import type { PoolClient } from 'pg'
import type { NewSagaEvent } from './new-saga-event.js'
import { statement } from './statement.js'

export interface SagaKey {
  tenant: string
  id: string
}

/** Identifiers hold no control characters, so that this never joins two pairs to one text. */
export const keyText = ({ tenant, id }: SagaKey): string => `${tenant}\0${id}`

export const uniqueKeys = (keys: readonly SagaKey[]): SagaKey[] => [
  ...new Map(keys.map((key) => [keyText(key), key])).values(),
]

/**
 * Begins a transaction and takes what these events touch for it alone, also what has no row yet: caller's event ids,
 * then sagas, then activities, each in the order of their lock numbers. Every writer takes them in this order, so
 * none waits for one that waits for it.
 */
export async function beginLocked(
  client: PoolClient,
  events: readonly NewSagaEvent[],
  sagas: readonly SagaKey[],
): Promise<void> {
  const eventIds = events.flatMap(({ tenant, eventId }) =>
    eventId === null ? [] : [{ tenant, id: eventId }],
  )
  await beginLockedKeys(client, { eventIds, sagas, activities: activityKeys(events) })
}

/** The same for who knows what it touches without having an event about it. */
export async function beginLockedKeys(
  client: PoolClient,
  { eventIds, sagas, activities }: Record<'eventIds' | 'sagas' | 'activities', readonly SagaKey[]>,
): Promise<void> {
  const numbers = [
    ...lockNumbers('event', eventIds),
    ...lockNumbers('saga', sagas),
    ...lockNumbers('activity', activities),
  ]
  const locks = numbers.map((number) => `SELECT pg_advisory_xact_lock(${number})`)
  // The numbers are our own, so they may stand in the text, which makes all of this one round trip. Rows are read by
  // later statements: those of this one would still see what was there before it had waited.
  await client.query(statement(['BEGIN', ...locks].join(';')))
}

export const activityKeys = (events: readonly NewSagaEvent[]): SagaKey[] =>
  uniqueKeys(
    events.flatMap(({ tenant, event }) => ('activityId' in event ? [{ tenant, id: event.activityId }] : [])),
  )

function lockNumbers(kind: string, keys: readonly SagaKey[]): bigint[] {
  const numbers = new Set(keys.map((key) => lockNumber(kind, key)))
  return [...numbers].sort((a, b) => (a < b ? -1 : 1))
}

/** Two things with the same number merely wait for each other. */
const lockNumber = (kind: string, key: SagaKey): bigint =>
  createHash('sha256')
    .update(`switchyard.${kind}\0${keyText(key)}`)
    .digest()
    .readBigInt64BE()
