import type { Activity, Saga } from '@switchyard/domain/saga'

/** A column, the key it has in the domain, and how a value travels in an array parameter. */
export interface Column<Row> {
  name: string
  key: keyof Row
  /** Element type of the array parameter. */
  type: string
  /** Cast from the element type to the column's, where they differ. */
  cast?: string
  encode?: (row: Row) => unknown
}

const column = <Row>(name: string, key: keyof Row, type: string): Column<Row> => ({ name, key, type })

export const sagaColumns: Column<Saga>[] = [
  column('id', 'id', 'text'),
  column('service_name', 'serviceName', 'text'),
  column('status', 'status', 'text'),
  column('outcome', 'outcome', 'text'),
  column('add_time', 'addTime', 'timestamptz'),
  column('started_at', 'startedAt', 'timestamptz'),
  column('ended_at', 'endedAt', 'timestamptz'),
  column('expires_at', 'expiresAt', 'timestamptz'),
  column('late', 'late', 'boolean'),
  column('first_seen_at', 'firstSeenAt', 'timestamptz'),
  column('last_event_at', 'lastEventAt', 'timestamptz'),
]

export const activityColumns: Column<Activity>[] = [
  column('id', 'id', 'text'),
  column('saga_id', 'sagaId', 'text'),
  column('"order"', 'order', 'integer'),
  column('status', 'status', 'text'),
  column('time_out_seconds', 'timeOutSeconds', 'integer'),
  column('execute_attempts', 'executeAttempts', 'integer'),
  column('compensate_attempts', 'compensateAttempts', 'integer'),
  column('retry_reports', 'retryReports', 'integer'),
  column('add_time', 'addTime', 'timestamptz'),
  column('first_seen_at', 'firstSeenAt', 'timestamptz'),
  column('last_event_at', 'lastEventAt', 'timestamptz'),
  column('started_at', 'startedAt', 'timestamptz'),
  column('ended_at', 'endedAt', 'timestamptz'),
  column('aborted_at', 'abortedAt', 'timestamptz'),
  column('overtime_at', 'overtimeAt', 'timestamptz'),
  column('revoked_at', 'revokedAt', 'timestamptz'),
  column('compensating_at', 'compensatingAt', 'timestamptz'),
  column('compensated_at', 'compensatedAt', 'timestamptz'),
  column('compensate_aborted_at', 'compensateAbortedAt', 'timestamptz'),
  column('final_abort', 'finalAbort', 'boolean'),
  column('overtime_named_saga', 'overtimeNamedSaga', 'boolean'),
  column('execute_errors', 'executeErrors', 'text'),
  column('compensate_errors', 'compensateErrors', 'text'),
  {
    ...column<Activity>('anomalies', 'anomalies', 'text'),
    // unnest would flatten an array of arrays; the names hold nothing that an array literal must quote.
    cast: 'text[]',
    encode: ({ anomalies }) => `{${anomalies.join(',')}}`,
  },
]

/** Kept as they were first reported, so they are written once and read only where they are compared. */
export const payloadColumns: Column<Activity>[] = [
  column('parameter_data', 'parameterData', 'bytea'),
  column('result_data', 'resultData', 'bytea'),
]

/** `table.name AS "key"` for every column. */
export const selectList = <Row>(table: string, columns: Column<Row>[]): string =>
  columns.map(({ name, key }) => `${table}.${name} AS "${String(key)}"`).join(', ')

/** One array for each column, as the parameters of {@link unnestColumns}. */
export const toArrays = <Row>(rows: readonly Row[], columns: Column<Row>[]): unknown[][] =>
  columns.map(({ key, encode }) => rows.map((row) => (encode ? encode(row) : row[key])))

/** `unnest($5::text[], …) AS given(id, …)`, its first parameter being `$first`. */
export const unnestColumns = <Row>(columns: Column<Row>[], first: number): string =>
  `unnest(${columns.map(({ type }, index) => `$${first + index}::${type}[]`).join(', ')}) ` +
  `WITH ORDINALITY AS given(${columns.map(({ name }) => name).join(', ')}, ordinality)`

/** The values of `given`, cast to the types of the columns. */
export const givenList = <Row>(columns: Column<Row>[]): string =>
  columns.map(({ name, cast }) => `given.${name}${cast ? `::${cast}` : ''}`).join(', ')

export const nameList = <Row>(columns: Column<Row>[]): string => columns.map(({ name }) => name).join(', ')
