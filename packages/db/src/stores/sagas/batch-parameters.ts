import type { Activity, Saga } from '@switchyard/domain/saga'
import { BinaryRows, binaryInts } from './binary-rows.js'
import type { Fold, LoggedEvent } from './fold-batch.js'
import { inLockOrder } from './lock-stripes.js'
import { cutOf, type NewSagaEvent } from './new-saga-event.js'
import type { ActivityEntry, SagaEntry } from './state-cache.js'

/** The composite types that `saga_ingest` takes, each with the number of its columns. */
const rowTypes = {
  saga_ingest_known: 5,
  saga_ingest_begun: 10,
  saga_ingest_moved: 10,
  saga_ingest_activity: 41,
  saga_ingest_saga: 17,
  saga_ingest_event: 8,
  saga_ingest_annotated_event: 15,
  saga_ingest_error: 7,
  saga_ingest_tag: 4,
} as const

export type RowType = keyof typeof rowTypes
export type RowTypeOids = Record<RowType, number>

export const rowTypeNames = Object.keys(rowTypes) as RowType[]

/** What a batch changes of an activity or saga. */
export interface Change<Entry, Row> {
  entry: Entry
  row: Row
}

export interface BatchChanges {
  sagas: Change<SagaEntry, Saga>[]
  activities: Change<ActivityEntry, Activity>[]
}

export function changesOf({ sagas, activities, ledgers }: Fold): BatchChanges {
  const changes: BatchChanges = { sagas: [], activities: [] }
  for (const entry of sagas) {
    const row = ledgers.get(entry.tenant)?.findSaga(entry.id)
    if (row && row !== entry.saga) changes.sagas.push({ entry, row })
  }
  for (const entry of activities) {
    const row = ledgers.get(entry.tenant)?.findActivity(entry.id)
    if (row && row !== entry.activity) changes.activities.push({ entry, row })
  }
  return changes
}

/** A call of `saga_ingest`. */
export interface BatchCall {
  parameters: Buffer[]
  /** Whose new places it returns, in the order of its results. */
  written: (SagaEntry | ActivityEntry)[][]
}

/** @param locked whether the transaction holds the locks already, under which everything was read */
export function batchCall(fold: Fold, changes: BatchChanges, oids: RowTypeOids, locked: boolean): BatchCall {
  const stripes = locked ? new Int32Array(0) : inLockOrder(stripesOf(fold))
  const annotated = fold.logged.some(({ received }) => isAnnotated(received))
  const none = (type: RowType) => new BinaryRows(oids[type], 32)
  const events = new BinaryRows(oids[annotated ? 'saga_ingest_annotated_event' : 'saga_ingest_event'], 32_768)
  for (const event of fold.logged) addEvent(events, event, annotated)
  const known = locked ? none('saga_ingest_known') : null
  const changed = [...activityRows(changes, oids), ...sagaRows(changes, oids)]
  const parameters = [
    binaryInts(stripes),
    (known ?? knownSagas(fold, changes, oids)).finish(),
    (known ?? knownActivities(fold, changes, oids)).finish(),
    ...changed.map(({ rows }) => rows.finish()),
    errorRows(changes, fold, oids).finish(),
    tagRows(fold, oids).finish(),
    (annotated ? none('saga_ingest_event') : events).finish(),
    (annotated ? events : none('saga_ingest_annotated_event')).finish(),
  ]
  return { parameters, written: changed.map(({ entries }) => entries) }
}

/** Rows of one parameter, and whose they are. */
class EntryRows<Entry, Row> {
  readonly rows: BinaryRows
  readonly entries: Entry[] = []
  readonly #add: (rows: BinaryRows, entry: Entry, row: Row) => void

  constructor(rows: BinaryRows, add: (rows: BinaryRows, entry: Entry, row: Row) => void) {
    this.rows = rows
    this.#add = add
  }

  add(entry: Entry, row: Row): void {
    this.entries.push(entry)
    this.#add(this.rows, entry, row)
  }
}

/** Sagas have one lock each for all that belongs to them; an activity has its own until it has a saga. */
export function stripesOf({ sagas, activities, eventStripes, ledgers }: Fold): number[] {
  const stripes = [...eventStripes]
  for (const { stripe } of sagas) stripes.push(stripe)
  for (const { tenant, id, stripe } of activities) {
    if (!ledgers.get(tenant)?.findActivity(id)?.sagaId) stripes.push(stripe)
  }
  return stripes
}

/** Those that are not written, and those whose other activities have decided. */
function knownSagas({ sagas, ledgers }: Fold, changes: BatchChanges, oids: RowTypeOids): BinaryRows {
  const rows = new BinaryRows(oids.saga_ingest_known)
  const changed = new Set(changes.sagas.map(({ entry }) => entry))
  for (const entry of sagas) {
    const relied = entry.version > 0 && ledgers.get(entry.tenant)?.reliedOnFactsOf(entry.id)
    if (changed.has(entry) && !relied) continue
    addKnown(rows, entry, relied ? entry.factsSum : null)
  }
  return rows
}

function knownActivities({ activities }: Fold, changes: BatchChanges, oids: RowTypeOids): BinaryRows {
  const rows = new BinaryRows(oids.saga_ingest_known, 256)
  if (activities.length === changes.activities.length) return rows
  const changed = new Set(changes.activities.map(({ entry }) => entry))
  for (const entry of activities) if (!changed.has(entry)) addKnown(rows, entry, null)
  return rows
}

function addKnown(rows: BinaryRows, entry: SagaEntry | ActivityEntry, facts: number | null): void {
  rows.begin(rowTypes.saga_ingest_known)
  rows.text(entry.tenant)
  rows.text(entry.id)
  rows.int8(entry.version)
  rows.int8(facts)
  rows.place(entry.place)
}

function activityRows({ activities }: BatchChanges, oids: RowTypeOids) {
  const begun = new EntryRows(new BinaryRows(oids.saga_ingest_begun, 8192), addBegun)
  const moved = new EntryRows(new BinaryRows(oids.saga_ingest_moved, 8192), addMoved)
  const added = new EntryRows(new BinaryRows(oids.saga_ingest_activity, 1024), addActivity)
  const changed = new EntryRows(new BinaryRows(oids.saga_ingest_activity, 1024), addActivity)
  // All writers change rows in one order, so that none waits for one that waits for it.
  const ordered = activities.length > 1 ? [...activities].sort(byKey) : activities
  for (const { entry, row } of ordered) {
    if (entry.version === 0 && hasOnlyBegun(row)) begun.add(entry, row)
    else if (entry.version === 0) added.add(entry, row)
    else if (entry.activity && hasOnlyMoved(entry.activity, row)) moved.add(entry, row)
    else changed.add(entry, row)
  }
  return [begun, moved, added, changed]
}

const byKey = (
  { entry: a }: Change<ActivityEntry, Activity>,
  { entry: b }: Change<ActivityEntry, Activity>,
) => {
  if (a.id !== b.id) return a.id < b.id ? -1 : 1
  return a.tenant < b.tenant ? -1 : 1
}

const hasOnlyBegun = (row: Activity): boolean =>
  row.status === 'Executing' &&
  row.startedAt !== null &&
  row.lastEventAt.getTime() === row.firstSeenAt.getTime() &&
  row.startedAt.getTime() === row.firstSeenAt.getTime() &&
  row.parameterSize === null &&
  row.executeAttempts === 0 &&
  row.compensateAttempts === 0 &&
  row.retryReports === 0 &&
  row.endedAt === null

const movedKeys: ReadonlySet<string> = new Set<keyof Activity>([
  'status',
  'lastEventAt',
  'endedAt',
  'compensatedAt',
  'resultData',
  'contentKeys',
])

function hasOnlyMoved(before: Activity, after: Activity): boolean {
  for (const key in after) {
    const name = key as keyof Activity
    if (before[name] !== after[name] && !movedKeys.has(key)) return false
  }
  return true
}

function addBegun(rows: BinaryRows, { tenant, id }: ActivityEntry, row: Activity): void {
  rows.begin(rowTypes.saga_ingest_begun)
  rows.text(tenant)
  rows.text(id)
  rows.text(row.sagaId)
  rows.int4(row.order)
  rows.int4(row.timeOutSeconds)
  rows.time(row.addTime)
  rows.time(row.startedAt)
  rows.time(row.deadlineAt)
  rows.bytes(row.parameterData)
  rows.latin1(row.contentKeys)
}

function addMoved(rows: BinaryRows, entry: ActivityEntry, row: Activity): void {
  rows.begin(rowTypes.saga_ingest_moved)
  rows.text(entry.tenant)
  rows.text(entry.id)
  rows.int8(entry.version)
  rows.text(row.status)
  rows.time(row.lastEventAt)
  rows.time(row.endedAt)
  rows.time(row.compensatedAt)
  // What is stored is kept, so it need not travel again.
  rows.bytes(entry.activity?.resultData ? null : row.resultData)
  rows.latin1(row.contentKeys)
  rows.place(entry.place)
}

function addActivity(rows: BinaryRows, { tenant, id, version, place }: ActivityEntry, row: Activity): void {
  rows.begin(rowTypes.saga_ingest_activity)
  rows.text(tenant)
  rows.text(id)
  rows.int8(version)
  rows.text(row.sagaId)
  rows.int4(row.order)
  rows.text(row.status)
  rows.int4(row.timeOutSeconds)
  rows.int4(row.executeAttempts)
  rows.int4(row.compensateAttempts)
  rows.int4(row.retryReports)
  rows.time(row.addTime)
  rows.time(row.firstSeenAt)
  rows.time(row.lastEventAt)
  rows.time(row.startedAt)
  rows.time(row.endedAt)
  rows.time(row.abortedAt)
  rows.time(row.overtimeAt)
  rows.time(row.revokedAt)
  rows.time(row.compensatingAt)
  rows.time(row.compensatedAt)
  rows.time(row.compensateAbortedAt)
  rows.time(row.givenUpAt)
  rows.time(row.deadlineAt)
  rows.bool(row.finalAbort)
  rows.bool(row.overtimeNamedSaga)
  rows.text(row.executeErrors)
  rows.int4(row.executeErrorsSize)
  rows.bytes(row.executeErrorsSha256)
  rows.text(row.compensateErrors)
  rows.int4(row.compensateErrorsSize)
  rows.bytes(row.compensateErrorsSha256)
  rows.text(row.errorFingerprint)
  rows.textArray(row.anomalies)
  rows.bytes(row.parameterData)
  rows.int4(row.parameterSize)
  rows.bytes(row.parameterSha256)
  rows.bytes(row.resultData)
  rows.int4(row.resultSize)
  rows.bytes(row.resultSha256)
  rows.latin1(row.contentKeys)
  rows.place(place)
}

function sagaRows({ sagas }: BatchChanges, oids: RowTypeOids) {
  const added = new EntryRows(new BinaryRows(oids.saga_ingest_saga), addSaga)
  const changed = new EntryRows(new BinaryRows(oids.saga_ingest_saga), addSaga)
  for (const { entry, row } of sagas) (entry.version === 0 ? added : changed).add(entry, row)
  return [added, changed]
}

function addSaga(rows: BinaryRows, entry: SagaEntry, row: Saga): void {
  rows.begin(rowTypes.saga_ingest_saga)
  rows.text(entry.tenant)
  rows.text(entry.id)
  rows.int8(entry.version)
  rows.text(row.serviceName)
  rows.text(row.status)
  rows.text(row.outcome)
  rows.time(row.addTime)
  rows.time(row.startedAt)
  rows.time(row.endedAt)
  rows.time(row.expiresAt)
  rows.bool(row.late)
  rows.time(row.firstSeenAt)
  rows.time(row.lastEventAt)
  rows.time(row.resolvedAt)
  rows.text(row.resolvedBy)
  rows.latin1(row.contentKeys)
  rows.place(entry.place)
}

const isAnnotated = (received: NewSagaEvent): boolean =>
  received.eventId !== null ||
  received.eventTime !== null ||
  (received.eventSeq ?? received.attempt ?? received.traceParent ?? null) !== null ||
  cutOf(received.event) !== null

function addEvent(rows: BinaryRows, { received, result, sagaId }: LoggedEvent, annotated: boolean): void {
  const { event } = received
  rows.begin(annotated ? rowTypes.saga_ingest_annotated_event : rowTypes.saga_ingest_event)
  rows.text(received.tenant)
  rows.time(received.receivedAt)
  rows.text(event.operation)
  rows.text(sagaId)
  rows.text('activityId' in event ? event.activityId : null)
  rows.bytes(received.contentKey.subarray(0, 8))
  rows.text(result)
  rows.bytes(received.request)
  if (!annotated) return
  const cut = cutOf(event)
  rows.text(received.eventId)
  rows.time(received.eventTime)
  rows.int8(received.eventSeq ?? null)
  rows.int4(received.attempt ?? null)
  rows.text(received.traceParent ?? null)
  rows.int4(cut?.size ?? null)
  rows.bytes(cut?.sha256 ?? null)
}

/** The errors of activities that failed, or whose saga has just been named. */
function errorRows({ activities }: BatchChanges, { ledgers }: Fold, oids: RowTypeOids): BinaryRows {
  const rows = new BinaryRows(oids.saga_ingest_error, 64)
  for (const { entry, row } of activities) {
    if (row.sagaId === null || !hasNewErrors(entry.activity, row)) continue
    const saga = ledgers.get(entry.tenant)?.findSaga(row.sagaId)
    rows.begin(rowTypes.saga_ingest_error)
    rows.text(entry.tenant)
    rows.text(entry.id)
    rows.text(row.sagaId)
    rows.time(saga?.firstSeenAt ?? row.firstSeenAt)
    rows.time(row.lastEventAt)
    rows.text(row.errorFingerprint)
    rows.text([row.executeErrors, row.compensateErrors].filter(Boolean).join('\n'))
  }
  return rows
}

function hasNewErrors(before: Activity | null, { executeErrors, compensateErrors }: Activity): boolean {
  if (executeErrors === null && compensateErrors === null) return false
  if (before === null || before.sagaId === null) return true
  return executeErrors !== before.executeErrors || compensateErrors !== before.compensateErrors
}

/** Tags belong to the saga, so those of events that are about none yet are left out. */
function tagRows({ logged, ledgers }: Fold, oids: RowTypeOids): BinaryRows {
  const rows = new BinaryRows(oids.saga_ingest_tag, 32)
  for (const { received, sagaId } of logged) {
    if (!received.tags || sagaId === null) continue
    const saga = ledgers.get(received.tenant)?.findSaga(sagaId)
    for (const tag of received.tags) {
      rows.begin(rowTypes.saga_ingest_tag)
      rows.text(received.tenant)
      rows.text(sagaId)
      rows.text(tag)
      rows.time(saga?.firstSeenAt ?? received.receivedAt)
    }
  }
  return rows
}
