import type { PoolClient } from '@switchyard/db'
import { type Activity, type ActivityFacts, needsFacts, type Saga, sagaIdOf } from '@switchyard/domain/saga'
import { byKey, keyText, lockByKey, type TenantKey, tenantKeyArrays, uniqueKeys } from '../keys.js'
import { activityTable, sagaTable } from '../tables.js'
import type { NewSagaEvent } from './new-saga-event.js'

/** The stored state of the sagas and activities of a batch. Maps and sets are keyed by {@link keyText}. */
export interface BatchState {
  sagas: Map<string, Stored<Saga>>
  activities: Map<string, Stored<Activity>>
  /** Different facts of the other activities of the sagas for which events need them. */
  otherFacts: Map<string, ActivityFacts[]>
  /** Callers' ids of events that are in the log. */
  recordedIds: Set<string>
  /** Sagas that retention has removed. */
  purgedSagas: Set<string>
  purgedActivities: Set<string>
}

export interface Stored<Row> extends TenantKey {
  row: Row
}

/**
 * Reads the state on which a batch depends, and locks the rows until the transaction ends: first the
 * activities, then the sagas, each in the order of their keys. Every transaction that changes an activity of
 * a saga holds the lock of the saga, so the other activities of the saga do not change either.
 */
export async function readBatch(client: PoolClient, events: readonly NewSagaEvent[]): Promise<BatchState> {
  const activityKeys = uniqueKeys(
    events.flatMap(({ tenant, event }) => ('activityId' in event ? [{ tenant, id: event.activityId }] : [])),
  )
  const activities = await lockAll(client, lockActivities, activityKeys, activityTable.fromSql)
  const sagaKeys = uniqueKeys([
    ...events.flatMap(({ tenant, event }) => keyOfSaga(tenant, sagaIdOf(event))),
    ...[...activities.values()].flatMap(({ tenant, row }) => keyOfSaga(tenant, row.sagaId)),
  ])
  const sagas = await lockAll(client, lockSagas, sagaKeys, sagaTable.fromSql)
  const eventIds = events.flatMap(({ tenant, eventId }) =>
    eventId === null ? [] : [{ tenant, id: eventId }],
  )
  const missing = (keys: readonly TenantKey[], rows: Map<string, unknown>) =>
    keys.filter((key) => !rows.has(keyText(key)))
  const otherFacts = await readOtherFacts(client, sagasThatNeedFacts(events, sagas, activities), activities)
  const known = await readKnown(client, {
    event: uniqueKeys(eventIds),
    saga: missing(sagaKeys, sagas),
    activity: missing(activityKeys, activities),
  })
  return {
    sagas,
    activities,
    otherFacts,
    recordedIds: known.event,
    purgedSagas: known.saga,
    purgedActivities: known.activity,
  }
}

const keyOfSaga = (tenant: string, id: string | null): TenantKey[] => (id === null ? [] : [{ tenant, id }])

const lockActivities = {
  name: 'saga-activities-lock-read',
  text: lockByKey('saga_activities', activityTable.foldedList),
}
const lockSagas = { name: 'sagas-lock-read', text: lockByKey('sagas', sagaTable.foldedList) }

async function lockAll<Row extends { id: string }>(
  client: PoolClient,
  query: typeof lockSagas,
  keys: readonly TenantKey[],
  fromSql: (read: Record<string, unknown>) => Row,
): Promise<Map<string, Stored<Row>>> {
  if (keys.length === 0) return new Map()
  const values = tenantKeyArrays([...keys].sort(byKey))
  const { rows } = await client.query<Record<string, unknown> & { tenant: string }>({ ...query, values })
  return new Map(
    rows.map(({ tenant, ...read }) => {
      const row = fromSql(read)
      return [keyText({ tenant, id: row.id }), { tenant, id: row.id, row }]
    }),
  )
}

function sagasThatNeedFacts(
  events: readonly NewSagaEvent[],
  sagas: BatchState['sagas'],
  activities: BatchState['activities'],
): TenantKey[] {
  const needed = new Map<string, TenantKey>()
  for (const { tenant, event } of events) {
    const activity =
      'activityId' in event ? activities.get(keyText({ tenant, id: event.activityId })) : undefined
    const id = activity?.row.sagaId ?? sagaIdOf(event)
    const saga = id === null ? undefined : sagas.get(keyText({ tenant, id }))
    if (saga && needsFacts(event, saga.row, activity?.row ?? null)) needed.set(keyText(saga), saga)
  }
  return [...needed.values()]
}

/**
 * Groups the facts, because a saga may have any number of activities, and its status depends only on which
 * facts exist. Of the times at which compensations were given up, only the latest matters. PostgreSQL looks
 * the activities up in one hash table for NOT IN.
 */
const otherFactsOfSagas = {
  name: 'saga-activities-other-facts',
  text: `SELECT key.tenant, key.id AS "sagaId", found.*
    FROM unnest($1::text[], $2::text[]) AS key(tenant, id)
    CROSS JOIN LATERAL (
      SELECT a.status, a.final_abort AS "finalAbort", a.overtime_named_saga AS "overtimeNamedSaga",
        max(a.given_up_at) AS "givenUpAt"
      FROM saga_activities a WHERE a.tenant = key.tenant AND a.saga_id = key.id
        AND (a.tenant, a.id) NOT IN (SELECT * FROM unnest($3::text[], $4::text[]))
      GROUP BY a.status, a.final_abort, a.overtime_named_saga, a.given_up_at IS NULL
    ) AS found`,
}

/** Reads the facts of the activities of these sagas, except those that are locked. */
async function readOtherFacts(
  client: PoolClient,
  sagas: readonly TenantKey[],
  locked: BatchState['activities'],
): Promise<BatchState['otherFacts']> {
  const found: BatchState['otherFacts'] = new Map(sagas.map((key) => [keyText(key), []]))
  if (sagas.length === 0) return found
  type Row = ActivityFacts & { tenant: string; sagaId: string }
  const values = [...tenantKeyArrays(sagas), ...tenantKeyArrays([...locked.values()])]
  const { rows } = await client.query<Row>({ ...otherFactsOfSagas, values })
  for (const { tenant, sagaId, ...facts } of rows) found.get(keyText({ tenant, id: sagaId }))?.push(facts)
  return found
}

const lookUp = (kind: string, keys: string, source: string) =>
  `SELECT '${kind}' AS kind, key.tenant, key.id FROM unnest(${keys}) AS key(tenant, id)
    CROSS JOIN LATERAL (SELECT FROM ${source} OFFSET 0) AS found`

const tombstone = (kind: string) =>
  `saga_tombstones t WHERE t.tenant = key.tenant AND t.kind = '${kind}' AND t.id = key.id`

const knownKeys = {
  name: 'saga-keys-known',
  text: [
    lookUp(
      'event',
      '$1::text[], $2::text[]',
      'saga_event_ids e WHERE e.tenant = key.tenant AND e.event_id = key.id',
    ),
    lookUp('saga', '$3::text[], $4::text[]', tombstone('saga')),
    lookUp('activity', '$5::text[], $6::text[]', tombstone('activity')),
  ].join(' UNION ALL '),
}

type KnownKind = 'event' | 'saga' | 'activity'

/**
 * Returns which keys of events are in the log, and which keys of sagas and activities retention has removed.
 */
async function readKnown(
  client: PoolClient,
  keys: Record<KnownKind, readonly TenantKey[]>,
): Promise<Record<KnownKind, Set<string>>> {
  const found = { event: new Set<string>(), saga: new Set<string>(), activity: new Set<string>() }
  if (Object.values(keys).every(({ length }) => length === 0)) return found
  const values = [keys.event, keys.saga, keys.activity].flatMap(tenantKeyArrays)
  const { rows } = await client.query<TenantKey & { kind: KnownKind }>({ ...knownKeys, values })
  for (const { kind, ...key } of rows) found[kind].add(keyText(key))
  return found
}
