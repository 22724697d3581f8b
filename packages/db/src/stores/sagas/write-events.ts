import type { Activity, EventResult, Saga, SagaLedger } from '@switchyard/domain/saga'
import type { PoolClient } from 'pg'
import {
  activityColumns,
  type Column,
  givenList,
  nameList,
  payloadColumns,
  sagaColumns,
  toArrays,
  unnestColumns,
} from './columns.js'
import type { NewSagaEvent } from './new-saga-event.js'
import { statement } from './statement.js'

/** A row of the log. */
export interface LoggedSagaEvent {
  tenant: string
  receivedAt: Date
  operation: string
  sagaId: string | null
  activityId: string | null
  eventId: string | null
  eventTime: Date | null
  contentKey: Uint8Array
  result: EventResult
  request: Uint8Array
}

type InTenant<Row> = Row & { tenant: string }

const tenant = { name: 'tenant', key: 'tenant', type: 'text' } as const
const sagaRow: Column<InTenant<Saga>>[] = [tenant, ...sagaColumns]
const activityRow: Column<InTenant<Activity>>[] = [tenant, ...activityColumns, ...payloadColumns]
const eventRow: Column<LoggedSagaEvent>[] = [
  tenant,
  { name: 'received_at', key: 'receivedAt', type: 'timestamptz' },
  { name: 'operation', key: 'operation', type: 'text' },
  { name: 'saga_id', key: 'sagaId', type: 'text' },
  { name: 'activity_id', key: 'activityId', type: 'text' },
  { name: 'event_id', key: 'eventId', type: 'text' },
  { name: 'event_time', key: 'eventTime', type: 'timestamptz' },
  { name: 'content_key', key: 'contentKey', type: 'bytea' },
  { name: 'result', key: 'result', type: 'text' },
  { name: 'request', key: 'request', type: 'bytea' },
]

const overwrite = <Row>(columns: Column<Row>[]) =>
  columns.filter(({ name }) => name !== 'id').map(({ name }) => `${name} = EXCLUDED.${name}`)
/** What is there is not written again, however large it is. */
const keepFirst = <Row>(columns: Column<Row>[]) =>
  columns.map(({ name }) => `${name} = COALESCE(stored.${name}, EXCLUDED.${name})`)

const write = statement(
  // Ids are drawn in the order of the events: the log of a saga reads in the order in which it was applied.
  `WITH saga_rows AS (
    INSERT INTO sagas (${nameList(sagaRow)})
    SELECT ${givenList(sagaRow)} FROM ${unnestColumns(sagaRow, 1)}
    ON CONFLICT (tenant, id) DO UPDATE SET ${overwrite(sagaColumns).join(', ')}
  ), activity_rows AS (
    INSERT INTO saga_activities AS stored (${nameList(activityRow)})
    SELECT ${givenList(activityRow)} FROM ${unnestColumns(activityRow, 1 + sagaRow.length)}
    ON CONFLICT (tenant, id) DO UPDATE
      SET ${[...overwrite(activityColumns), ...keepFirst(payloadColumns)].join(', ')}
  )
  INSERT INTO saga_events (${nameList(eventRow)})
  SELECT ${givenList(eventRow)} FROM ${unnestColumns(eventRow, 1 + sagaRow.length + activityRow.length)}
  ORDER BY given.ordinality`,
  'saga-ingest-write',
)

/** Appends to the log and brings the derived rows up to it, in one statement. */
export async function writeSagaEvents(
  client: PoolClient,
  ledgers: ReadonlyMap<string, SagaLedger>,
  events: readonly LoggedSagaEvent[],
): Promise<void> {
  const all = [...ledgers]
  const sagas = all.flatMap(([name, ledger]) =>
    ledger.changedSagas.map((saga) => ({ ...saga, tenant: name })),
  )
  const activities = all.flatMap(([name, ledger]) =>
    ledger.changedActivities.map((activity) => ({ ...activity, tenant: name })),
  )
  await client.query({
    ...write,
    values: [
      ...toArrays(sagas, sagaRow),
      ...toArrays(activities, activityRow),
      ...toArrays(events, eventRow),
    ],
  })
}

/** @param sagaId the saga the event belongs to, also when it does not name it */
export const toLogged = (
  { event, ...received }: NewSagaEvent,
  result: EventResult,
  sagaId: string | null,
): LoggedSagaEvent => ({
  ...received,
  operation: event.operation,
  sagaId,
  activityId: 'activityId' in event ? event.activityId : null,
  result,
})
