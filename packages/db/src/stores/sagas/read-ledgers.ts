import { type Activity, type ActivityFacts, type Saga, SagaLedger } from '@switchyard/domain/saga'
import type { Pool, PoolClient } from 'pg'
import { activityColumns, sagaColumns, selectList } from './columns.js'
import { activityKeys, type SagaKey, uniqueKeys } from './lock-sagas.js'
import type { NewSagaEvent } from './new-saga-event.js'
import { statement } from './statement.js'

const keyTable = 'unnest($1::text[], $2::text[]) AS key(tenant, id)'

const activitySagas = statement(
  `SELECT a.tenant, a.saga_id AS id FROM ${keyTable} JOIN saga_activities a USING (tenant, id)
    WHERE a.saga_id IS NOT NULL`,
  'saga-ingest-activity-sagas',
)

/** The parameter is only asked whether it is there: an empty one stands for it. */
const activities = statement(
  `SELECT a.tenant, ${selectList('a', activityColumns)}, a.result_data AS "resultData",
      CASE WHEN a.parameter_data IS NULL THEN NULL ELSE ''::bytea END AS "parameterData"
    FROM ${keyTable} JOIN saga_activities a USING (tenant, id)`,
  'saga-ingest-activities',
)

const sagas = statement(
  `SELECT s.tenant, ${selectList('s', sagaColumns)}, COALESCE((
      SELECT json_agg(json_build_object('id', a.id, 'status', a.status,
        'finalAbort', a.final_abort, 'overtimeNamedSaga', a.overtime_named_saga))
      FROM saga_activities a WHERE a.tenant = s.tenant AND a.saga_id = s.id), '[]') AS facts
    FROM ${keyTable} JOIN sagas s USING (tenant, id)`,
  'saga-ingest-sagas',
)

const keyArrays = (keys: readonly SagaKey[]) => [keys.map(({ tenant }) => tenant), keys.map(({ id }) => id)]

/** The sagas these events belong to, as far as they are known: named by the event, or by an earlier one. */
export async function findSagaKeys(pool: Pool, events: readonly NewSagaEvent[]): Promise<SagaKey[]> {
  const named = events.flatMap(({ tenant, event }) =>
    'sagaId' in event && event.sagaId !== null ? [{ tenant, id: event.sagaId }] : [],
  )
  const unnamed = events.filter(({ event }) => !('sagaId' in event) || event.sagaId === null)
  if (unnamed.length === 0) return uniqueKeys(named)
  const { rows } = await pool.query<SagaKey>({ ...activitySagas, values: keyArrays(activityKeys(unnamed)) })
  return uniqueKeys([...named, ...rows])
}

/** A ledger for each tenant, loaded with these sagas and the activities that the events are about. */
export async function readLedgers(
  client: PoolClient,
  events: readonly NewSagaEvent[],
  sagaKeys: readonly SagaKey[],
): Promise<Map<string, SagaLedger>> {
  const ledgers = new Map(events.map(({ tenant }) => [tenant, new SagaLedger()]))
  const foundSagas = await client.query<Saga & { tenant: string; facts: (ActivityFacts & { id: string })[] }>(
    {
      ...sagas,
      values: keyArrays(sagaKeys),
    },
  )
  for (const { tenant, facts, ...saga } of foundSagas.rows) ledgerOf(ledgers, tenant).loadSaga(saga, facts)

  const keys = activityKeys(events)
  if (keys.length === 0) return ledgers
  const found = await client.query<Activity & { tenant: string }>({ ...activities, values: keyArrays(keys) })
  for (const { tenant, ...activity } of found.rows) ledgerOf(ledgers, tenant).loadActivity(activity)
  return ledgers
}

export function ledgerOf(ledgers: ReadonlyMap<string, SagaLedger>, tenant: string): SagaLedger {
  const ledger = ledgers.get(tenant)
  if (!ledger) throw new Error('a row of a tenant that was not asked for')
  return ledger
}
