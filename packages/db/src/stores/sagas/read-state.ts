import type { Activity, ActivityFacts, Saga } from '@switchyard/domain/saga'
import type { PoolClient } from 'pg'
import { activityColumns, sagaColumns, selectList } from './columns.js'
import { type Place, placeOf } from './places.js'
import type { SagaKey } from './saga-keys.js'
import { statement } from './statement.js'

const keyTable = 'unnest($1::text[], $2::text[]) AS key(tenant, id)'

/** The parameter is only asked whether it is there: an empty one stands for it. */
const activities = statement(
  `SELECT a.tenant, a.version::float8 AS version, a.ctid::text AS place, a.content_keys AS "keyBytes", ${selectList('a', activityColumns)},
      a.result_data AS "resultData",
      CASE WHEN a.parameter_data IS NULL THEN NULL ELSE ''::bytea END AS "parameterData"
    FROM ${keyTable} JOIN saga_activities a USING (tenant, id)`,
  'saga-ingest-activities',
)

const sagas = statement(
  `SELECT s.tenant, s.version::float8 AS version, s.ctid::text AS place, s.content_keys AS "keyBytes", ${selectList('s', sagaColumns)}
    FROM ${keyTable} JOIN sagas s USING (tenant, id)`,
  'saga-ingest-sagas',
)

const facts = statement(
  `SELECT a.tenant, a.saga_id AS "sagaId", a.id, a.version::float8 AS version, a.status,
      a.final_abort AS "finalAbort", a.overtime_named_saga AS "overtimeNamedSaga", a.given_up_at AS "givenUpAt"
    FROM ${keyTable} JOIN saga_activities a ON a.tenant = key.tenant AND a.saga_id = key.id`,
  'saga-ingest-facts',
)

const tombstones = statement(
  `SELECT t.tenant, t.id FROM ${keyTable}
    JOIN saga_tombstones t ON t.tenant = key.tenant AND t.kind = $3 AND t.id = key.id`,
  'saga-ingest-tombstones',
)

const recordedIds = statement(
  `SELECT e.tenant, e.event_id AS id FROM ${keyTable}
    JOIN saga_events e ON e.tenant = key.tenant AND e.event_id = key.id`,
  'saga-ingest-event-ids',
)

type Stored<Row> = { tenant: string; version: number; place: Place; row: Row }

const keyArrays = (keys: readonly SagaKey[]) => [keys.map(({ tenant }) => tenant), keys.map(({ id }) => id)]

type Versioned<Row> = Omit<Row, 'contentKeys'> & {
  tenant: string
  version: number
  place: string
  keyBytes: Buffer
}

async function readRows<Row extends Saga | Activity>(
  client: PoolClient,
  query: ReturnType<typeof statement>,
  keys: readonly SagaKey[],
): Promise<Stored<Row>[]> {
  if (keys.length === 0) return []
  const { rows } = await client.query<Versioned<Row>>({ ...query, values: keyArrays(keys) })
  return rows.map(({ tenant, version, place, keyBytes, ...row }) => ({
    tenant,
    version,
    place: placeOf(place),
    row: { ...row, contentKeys: keyBytes.toString('latin1') } as unknown as Row,
  }))
}

export const readSagas = (client: PoolClient, keys: readonly SagaKey[]) => readRows<Saga>(client, sagas, keys)

export const readActivities = (client: PoolClient, keys: readonly SagaKey[]) =>
  readRows<Activity>(client, activities, keys)

export interface FactsRow extends ActivityFacts, SagaKey {
  sagaId: string
  version: number
}

/** Of all activities of these sagas. */
export async function readFacts(client: PoolClient, keys: readonly SagaKey[]): Promise<FactsRow[]> {
  if (keys.length === 0) return []
  const { rows } = await client.query<FactsRow>({ ...facts, values: keyArrays(keys) })
  return rows
}

/** Those that retention has removed. */
export async function readTombstones(
  client: PoolClient,
  kind: 'saga' | 'activity',
  keys: readonly SagaKey[],
): Promise<SagaKey[]> {
  if (keys.length === 0) return []
  const { rows } = await client.query<SagaKey>({ ...tombstones, values: [...keyArrays(keys), kind] })
  return rows
}

/** Those of the callers' event ids that are in the log. */
export async function readRecordedIds(client: PoolClient, keys: readonly SagaKey[]): Promise<SagaKey[]> {
  if (keys.length === 0) return []
  const { rows } = await client.query<SagaKey>({ ...recordedIds, values: keyArrays(keys) })
  return rows
}
