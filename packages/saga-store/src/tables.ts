import {
  bytes,
  type Column,
  column,
  flag,
  insertInto,
  integer,
  type RowColumn,
  rowColumns,
  rowReader,
  selectList,
  setToExcluded,
  text,
  time,
} from '@switchyard/db/sql'
import { type Activity, type EventResult, errorFingerprint, type Saga } from '@switchyard/domain/saga'
import type { TenantKey } from './keys.js'
import type { NewSagaEvent } from './recording/new-saga-event.js'

/** A row of `sagas` or `saga_activities` to write. */
export interface Change<Row> {
  tenant: string
  /** The row as it was read; null when there was none. */
  before: Row | null
  row: Row
}

/**
 * Returns a column of words without special characters. Each list is a text, because an array of arrays would
 * lose its inner bounds.
 */
const words = (name: string) => ({
  name,
  type: 'text',
  expression: `given.${name}::text[]`,
  toSql: (list: readonly string[]) => `{${list.join(',')}}`,
})

/** Returns a column of text whose characters are bytes. */
const latin1 = (name: string) => ({
  name,
  type: 'bytea',
  toSql: (value: string) => Buffer.from(value, 'latin1'),
  fromSql: (value: Buffer) => value.toString('latin1'),
})

/**
 * SQL that is read instead of a column when events are applied, which depend only on whether there is a
 * parameter.
 */
const foldedAs: Partial<Record<string, string>> = {
  parameter_data: `CASE WHEN stored.parameter_data IS NOT NULL THEN ''::bytea END`,
}

/** Returns the statements that read and write the rows of a table whose key is (tenant, id). */
function rowTable<Row extends object>(name: string, columns: readonly RowColumn<Row>[]) {
  const all: Column<Change<Row>>[] = [
    column(text('tenant'), ({ tenant }) => tenant),
    // A final value is sent once.
    ...columns.map(({ get, ...column }) => ({
      ...column,
      get: ({ row, before }: Change<Row>) =>
        column.isFinal && before?.[column.key] != null ? null : get(row),
    })),
  ]
  const kept = columns
    .filter(({ isFinal }) => isFinal)
    .map((column) => `${column.name} = COALESCE(stored.${column.name}, EXCLUDED.${column.name})`)
  const changed = setToExcluded(columns.filter(({ isFinal }) => !isFinal))
  return {
    /**
     * The columns of the row `stored` by the domain's names, without content keys, which older rows do not
     * have.
     */
    comparedList: selectList(
      'stored',
      columns.filter(({ key }) => key !== 'contentKeys'),
    ),
    /** Some columns of a row `alias`, by the domain's names. */
    listOf: (alias: string, keys: readonly (keyof Row & string)[]) =>
      selectList(
        alias,
        columns.filter(({ key }) => keys.includes(key)),
      ),
    /** The columns of the row `stored` that applying events needs, by the domain's names. */
    foldedList: columns
      .map(({ name, key }) => `${foldedAs[name] ?? `stored.${name}`} AS "${key}"`)
      .join(', '),
    /** Inserts rows whose keys are free, and leaves out those whose keys are taken. */
    insert: insertInto(`${name}-insert`, name, all, 'ON CONFLICT (tenant, id) DO NOTHING'),
    /** Updates rows that the transaction has locked. */
    update: insertInto(
      `${name}-update`,
      name,
      all,
      `ON CONFLICT (tenant, id) DO UPDATE SET ${[changed, ...kept].join(', ')}`,
    ),
    /** Updates rows that the transaction has locked, including columns that are final. */
    overwrite: insertInto(
      `${name}-overwrite`,
      name,
      all,
      `ON CONFLICT (tenant, id) DO UPDATE SET ${setToExcluded(columns)}`,
    ),
    /** Converts a row of node-postgres to the domain's row. */
    fromSql: rowReader(columns),
  }
}

/** The columns of `sagas`. */
export const sagaTable = rowTable(
  'sagas',
  rowColumns<Saga>({
    id: text('id'),
    serviceName: text('service_name'),
    status: text('status'),
    outcome: text('outcome'),
    addTime: time('add_time'),
    startedAt: time('started_at'),
    endedAt: time('ended_at'),
    expiresAt: time('expires_at'),
    late: flag('late'),
    resolvedAt: time('resolved_at'),
    resolvedBy: text('resolved_by'),
    parentSagaId: text('parent_saga_id'),
    firstSeenAt: time('first_seen_at'),
    lastEventAt: time('last_event_at'),
    contentKeys: latin1('content_keys'),
  }),
)

/** The columns of `saga_activities`. */
export const activityTable = rowTable(
  'saga_activities',
  rowColumns<Activity>({
    id: text('id'),
    sagaId: text('saga_id'),
    order: integer('"order"'),
    status: text('status'),
    timeOutSeconds: integer('time_out_seconds'),
    executeAttempts: integer('execute_attempts'),
    compensateAttempts: integer('compensate_attempts'),
    retryReports: integer('retry_reports'),
    addTime: time('add_time'),
    firstSeenAt: time('first_seen_at'),
    lastEventAt: time('last_event_at'),
    startedAt: time('started_at'),
    endedAt: time('ended_at'),
    abortedAt: time('aborted_at'),
    overtimeAt: time('overtime_at'),
    revokedAt: time('revoked_at'),
    compensatingAt: time('compensating_at'),
    compensatedAt: time('compensated_at'),
    compensateAbortedAt: time('compensate_aborted_at'),
    finalAbort: flag('final_abort'),
    givenUpAt: time('given_up_at'),
    deadlineAt: time('deadline_at'),
    overtimeNamedSaga: flag('overtime_named_saga'),
    executeErrors: text('execute_errors'),
    executeErrorsSize: integer('execute_errors_size'),
    executeErrorsSha256: bytes('execute_errors_sha256'),
    compensateErrors: text('compensate_errors'),
    compensateErrorsSize: integer('compensate_errors_size'),
    compensateErrorsSha256: bytes('compensate_errors_sha256'),
    errorFingerprint: text('error_fingerprint'),
    parameterData: { ...bytes('parameter_data'), isFinal: true },
    parameterSize: integer('parameter_size'),
    parameterSha256: bytes('parameter_sha256'),
    resultData: { ...bytes('result_data'), isFinal: true },
    resultSize: integer('result_size'),
    resultSha256: bytes('result_sha256'),
    anomalies: words('anomalies'),
    contentKeys: latin1('content_keys'),
  }),
)

/** The errors of an activity that has a saga. */
export interface ActivityErrors {
  tenant: string
  activity: Activity
  /** When the saga was first seen. */
  sagaFirstSeenAt: Date
}

/** Returns the text in which searches look. */
const searchedText = ({ activity }: ActivityErrors): string =>
  [activity.executeErrors, activity.compensateErrors].filter(Boolean).join('\n')

/** Columns that an update keeps. */
const errorKeys: readonly Column<ActivityErrors>[] = [
  column(text('tenant'), ({ tenant }) => tenant),
  column(text('activity_id'), ({ activity }) => activity.id),
  column(time('first_seen_at'), ({ sagaFirstSeenAt }) => sagaFirstSeenAt),
]

const errorColumns: readonly Column<ActivityErrors>[] = [
  column(text('saga_id'), ({ activity }) => activity.sagaId),
  column(time('failed_at'), ({ activity }) => activity.lastEventAt),
  column(
    text('fingerprint'),
    (errors) => errors.activity.errorFingerprint ?? errorFingerprint(searchedText(errors)),
  ),
  column(text('text'), searchedText),
  // PostgreSQL folds the case of search terms, so it folds the case of the searched text as well.
  column({ ...text('folded'), expression: 'lower(given.folded)' }, searchedText),
]

export const upsertErrors = insertInto(
  'saga_errors-upsert',
  'saga_errors',
  [...errorKeys, ...errorColumns],
  `ON CONFLICT (tenant, activity_id) DO UPDATE SET ${setToExcluded(errorColumns)}`,
)

export const hasErrors = ({ executeErrors, compensateErrors }: Activity): boolean =>
  executeErrors !== null || compensateErrors !== null

/**
 * Returns whether the errors of an activity with a saga have to be written: it failed, or its saga has just
 * been named.
 */
export function hasNewErrors(before: Activity | null, after: Activity): boolean {
  if (after.sagaId === null || !hasErrors(after)) return false
  if (before === null || before.sagaId === null) return true
  return after.executeErrors !== before.executeErrors || after.compensateErrors !== before.compensateErrors
}

export interface LoggedEvent {
  received: NewSagaEvent
  result: EventResult
  sagaId: string | null
}

/** The columns of `saga_events`, without the id, which the database draws in the order of the events. */
const eventColumns: readonly Column<LoggedEvent>[] = [
  column(text('tenant'), ({ received }) => received.tenant),
  column(time('received_at'), ({ received }) => received.receivedAt),
  column(text('operation'), ({ received }) => received.event.operation),
  column(text('saga_id'), ({ sagaId }) => sagaId),
  column(text('activity_id'), ({ received: { event } }) => ('activityId' in event ? event.activityId : null)),
  column(text('event_id'), ({ received }) => received.eventId),
  column(time('event_time'), ({ received }) => received.eventTime),
  column({ name: 'event_seq', type: 'bigint' }, ({ received }) => received.eventSeq),
  column(integer('attempt'), ({ received }) => received.attempt),
  column(text('trace_parent'), ({ received }) => received.traceParent),
  column(text('parent_saga_id'), ({ received }) => received.parentSagaId),
  column(integer('payload_size'), ({ received: { event } }) =>
    'activityId' in event ? event.cut?.size : null,
  ),
  column(bytes('payload_sha256'), ({ received: { event } }) =>
    'activityId' in event ? event.cut?.sha256 : null,
  ),
  column(bytes('content_key'), ({ received }) => received.contentKey),
  column(text('result'), ({ result }) => result),
  column(bytes('request'), ({ received }) => received.request),
]

/** Appends to the log and returns the new ids. Followers of the log are notified of the highest one. */
export const insertEvents = insertInto('saga_events-insert', 'saga_events', eventColumns, 'RETURNING id')

export const insertEventIds = insertInto(
  'saga_event_ids-insert',
  'saga_event_ids',
  rowColumns<TenantKey>({ tenant: text('tenant'), id: text('event_id') }),
  'ON CONFLICT DO NOTHING',
)

export interface SagaTag {
  tenant: string
  sagaId: string
  tag: string
  sagaFirstSeenAt: Date
}

const tagColumns = rowColumns<SagaTag>({
  tenant: text('tenant'),
  sagaId: text('saga_id'),
  tag: text('tag'),
  sagaFirstSeenAt: time('first_seen_at'),
})

export const insertTags = insertInto('saga_tags-insert', 'saga_tags', tagColumns, 'ON CONFLICT DO NOTHING')
