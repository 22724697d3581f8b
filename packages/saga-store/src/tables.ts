import {
  bytes,
  type Column,
  flag,
  insertInto,
  integer,
  latin1,
  type RowColumn,
  rowColumns,
  rowReader,
  selectList,
  setToExcluded,
  text,
  time,
  timeOf,
  words,
} from '@switchyard/db/sql'
import { type Activity, type EventResult, errorFingerprint, type Saga } from '@switchyard/domain/saga'
import type { TenantKey } from './keys.js'
import type { NewSagaEvent } from './recording/new-saga-event.js'

/** A row of `sagas` or `saga_activities` that is written. */
export interface Change<Row> {
  tenant: string
  /** The row as it was read; null when there was none. */
  before: Row | null
  row: Row
}

/** The statements that read and write the rows of a table whose key is (tenant, id). */
function rowTable<Row extends object>(name: string, columns: readonly RowColumn<Row>[]) {
  const all: Column<Change<Row>>[] = [
    { name: 'tenant', type: 'text', get: ({ tenant }) => tenant },
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
    /** What applying events needs of the row `stored`, by the domain's names. */
    foldedList: selectList('stored', columns, (column) => column.readAs ?? `stored.${column.name}`),
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
    /** The domain's row of what node-postgres read. */
    fromSql: rowReader(columns),
  }
}

/** The one list of the columns of `sagas`. */
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

/** The one list of the columns of `saga_activities`. */
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
    // Events only depend on whether there is a parameter, so an empty one is read in its place.
    parameterData: {
      ...bytes('parameter_data'),
      isFinal: true,
      readAs: `CASE WHEN stored.parameter_data IS NOT NULL THEN ''::bytea END`,
    },
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

/** The text that searches look through. */
const searchedText = ({ activity }: ActivityErrors): string =>
  [activity.executeErrors, activity.compensateErrors].filter(Boolean).join('\n')

/** Columns that an update keeps. */
const errorKeys: readonly Column<ActivityErrors>[] = [
  { name: 'tenant', type: 'text', get: ({ tenant }) => tenant },
  { name: 'activity_id', type: 'text', get: ({ activity }) => activity.id },
  { name: 'first_seen_at', type: 'timestamptz', get: ({ sagaFirstSeenAt }) => timeOf(sagaFirstSeenAt) },
]

const errorColumns: readonly Column<ActivityErrors>[] = [
  { name: 'saga_id', type: 'text', get: ({ activity }) => activity.sagaId },
  { name: 'failed_at', type: 'timestamptz', get: ({ activity }) => timeOf(activity.lastEventAt) },
  {
    name: 'fingerprint',
    type: 'text',
    get: (errors) => errors.activity.errorFingerprint ?? errorFingerprint(searchedText(errors)),
  },
  { name: 'text', type: 'text', get: searchedText },
  // PostgreSQL folds the case of search terms, so it folds the case of the searched text as well.
  { name: 'folded', type: 'text', get: searchedText, expression: 'lower(given.folded)' },
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
 * Whether the errors of an activity with a saga have to be written: it failed, or its saga has just been
 * named.
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

const column = (
  name: string,
  type: string,
  get: (received: NewSagaEvent) => unknown,
): Column<LoggedEvent> => ({ name, type, get: ({ received }) => get(received) })

/**
 * The one list of the columns of `saga_events`, without the id, which the database draws in the order of the
 * events.
 */
const eventColumns: readonly Column<LoggedEvent>[] = [
  column('tenant', 'text', ({ tenant }) => tenant),
  column('received_at', 'timestamptz', ({ receivedAt }) => timeOf(receivedAt)),
  column('operation', 'text', ({ event }) => event.operation),
  { name: 'saga_id', type: 'text', get: ({ sagaId }) => sagaId },
  column('activity_id', 'text', ({ event }) => ('activityId' in event ? event.activityId : null)),
  column('event_id', 'text', ({ eventId }) => eventId),
  column('event_time', 'timestamptz', ({ eventTime }) => timeOf(eventTime)),
  column('event_seq', 'bigint', ({ eventSeq }) => eventSeq),
  column('attempt', 'integer', ({ attempt }) => attempt),
  column('trace_parent', 'text', ({ traceParent }) => traceParent),
  column('parent_saga_id', 'text', ({ parentSagaId }) => parentSagaId),
  column('payload_size', 'integer', ({ event }) => ('activityId' in event ? event.cut?.size : null)),
  column('payload_sha256', 'bytea', ({ event }) => ('activityId' in event ? event.cut?.sha256 : null)),
  column('content_key', 'bytea', ({ contentKey }) => contentKey),
  { name: 'result', type: 'text', get: ({ result }) => result },
  column('request', 'bytea', ({ request }) => request),
]

/** Appends to the log and returns the new ids. Followers of the log are notified of the highest one. */
export const insertEvents = insertInto('saga_events-insert', 'saga_events', eventColumns, 'RETURNING id')

const eventIdColumns: readonly Column<TenantKey>[] = [
  { name: 'tenant', type: 'text', get: ({ tenant }) => tenant },
  { name: 'event_id', type: 'text', get: ({ id }) => id },
]

export const insertEventIds = insertInto(
  'saga_event_ids-insert',
  'saga_event_ids',
  eventIdColumns,
  'ON CONFLICT DO NOTHING',
)

export interface SagaTag {
  tenant: string
  sagaId: string
  tag: string
  sagaFirstSeenAt: Date
}

const tagColumns: readonly Column<SagaTag>[] = [
  { name: 'tenant', type: 'text', get: ({ tenant }) => tenant },
  { name: 'saga_id', type: 'text', get: ({ sagaId }) => sagaId },
  { name: 'tag', type: 'text', get: ({ tag }) => tag },
  { name: 'first_seen_at', type: 'timestamptz', get: ({ sagaFirstSeenAt }) => timeOf(sagaFirstSeenAt) },
]

export const insertTags = insertInto('saga_tags-insert', 'saga_tags', tagColumns, 'ON CONFLICT DO NOTHING')
