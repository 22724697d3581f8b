import { forbidden } from '@switchyard/domain'
import {
  contentKeyOf,
  type EventResult,
  keyInTenant,
  SagaLedger,
  SagaRejection,
  sagaIdOf,
} from '@switchyard/domain/saga'
import { stripeOf } from './lock-stripes.js'
import type { NewSagaEvent, RecordedSagaEvent } from './new-saga-event.js'
import type { ActivityEntry, BatchMark, SagaEntry } from './state-cache.js'

/** An event that goes into the log. */
export interface LoggedEvent {
  received: NewSagaEvent
  result: EventResult
  sagaId: string | null
}

/** What is known of what a batch is about, and what the batch makes of it. */
export interface Fold {
  ledgers: Map<string, SagaLedger>
  sagas: SagaEntry[]
  activities: ActivityEntry[]
  /** Locks of the callers' event ids. */
  eventStripes: number[]
  logged: LoggedEvent[]
  results: RecordedSagaEvent[]
}

/** Where a batch finds what is known. */
export interface KnownState {
  /** @throws when it is not known whether there is such a saga */
  saga(event: NewSagaEvent, id: string): SagaEntry
  activity(event: NewSagaEvent, id: string): ActivityEntry
  /** Ids of the callers that are in the log, by tenant and id. */
  isRecorded(tenant: string, eventId: string): boolean
  /** What retention removed: events about it are late, and leave nothing behind. */
  isPurged(kind: 'saga' | 'activity', tenant: string, id: string): boolean
}

/** Adds the events to what is known, each as if it came after the one before. */
export function foldBatch(
  events: readonly NewSagaEvent[],
  known: KnownState,
  mark: BatchMark,
  strict: boolean,
): Fold {
  const fold: Fold = {
    ledgers: new Map(),
    sagas: [],
    activities: [],
    eventStripes: [],
    logged: [],
    results: [],
  }
  const ids = new Set<string>()
  for (const received of events) {
    fold.results.push(foldEvent(received, fold, known, mark, ids, strict))
  }
  return fold
}

function foldEvent(
  received: NewSagaEvent,
  fold: Fold,
  known: KnownState,
  mark: BatchMark,
  ids: Set<string>,
  strict: boolean,
): RecordedSagaEvent {
  const { tenant, event, eventId } = received
  const ledger = ledgerOf(fold, tenant, strict)
  if (eventId !== null) {
    fold.eventStripes.push(stripeOf('event', tenant, eventId))
    if (ids.has(keyInTenant(tenant, eventId)) || known.isRecorded(tenant, eventId)) return 'duplicate'
  }
  if (!touch(received, fold, ledger, known, mark)) return 'late'
  if (isOfAnotherService(received, ledger)) {
    return forbidden(`the saga is not one of service ${received.ownService}`)
  }
  try {
    const contentKey = eventId === null ? contentKeyOf(received.contentKey) : null
    const applied = ledger.apply(event, received.receivedAt, {
      contentKey,
      attempt: received.attempt ?? null,
    })
    if (eventId !== null) ids.add(keyInTenant(tenant, eventId))
    if (applied.isNew) fold.logged.push({ received, result: applied.result, sagaId: applied.sagaId })
    return applied.result
  } catch (error) {
    if (error instanceof SagaRejection) return error
    throw error
  }
}

/** Loads what the event is about; false when that was removed. */
function touch(
  received: NewSagaEvent,
  fold: Fold,
  ledger: SagaLedger,
  known: KnownState,
  mark: BatchMark,
): boolean {
  const { tenant, event } = received
  let sagaId = sagaIdOf(event)
  if ('activityId' in event) {
    const entry = known.activity(received, event.activityId)
    if (entry.version === 0 && known.isPurged('activity', tenant, entry.id)) return false
    if (isFirstOf(entry, mark, fold.activities) && entry.activity) ledger.loadActivity(entry.activity)
    // An event that names another saga than its activity's is refused, and needs that activity's saga all the same.
    sagaId = ledger.findActivity(entry.id)?.sagaId ?? sagaId
  }
  if (sagaId === null) return true
  const entry = known.saga(received, sagaId)
  if (entry.version === 0 && known.isPurged('saga', tenant, entry.id)) return false
  if (!isFirstOf(entry, mark, fold.sagas)) return true
  if (entry.saga) ledger.loadSaga(entry.saga, entry.facts)
  // The next batch relies on the facts that this one begins.
  else ledger.gatherFacts(entry.id, entry.facts)
  return true
}

/** A saga that has not said yet whose it is may be anybody's. */
function isOfAnotherService({ event, ownService }: NewSagaEvent, ledger: SagaLedger): boolean {
  if (ownService === null || ownService === undefined) return false
  const activity = 'activityId' in event ? ledger.findActivity(event.activityId) : undefined
  const sagaId = activity?.sagaId ?? sagaIdOf(event)
  const serviceName = sagaId === null ? undefined : ledger.findSaga(sagaId)?.serviceName
  return (serviceName ?? ownService) !== ownService
}

/** Marks what the batch touches for the first time. */
function isFirstOf<Entry extends SagaEntry | ActivityEntry>(
  entry: Entry,
  mark: BatchMark,
  touched: Entry[],
): boolean {
  if (entry.batch === mark) return false
  entry.batch = mark
  touched.push(entry)
  return true
}

function ledgerOf(fold: Fold, tenant: string, strict: boolean): SagaLedger {
  let ledger = fold.ledgers.get(tenant)
  if (!ledger) {
    ledger = new SagaLedger({ strict })
    fold.ledgers.set(tenant, ledger)
  }
  return ledger
}
