import type { Activity } from './activity.js'
import { applyActivityEvent } from './apply-activity-event.js'
import { applySagaEvent, noteActivityEvent } from './apply-saga-event.js'
import { addContentKey, hasContentKey, keyInAttempt, repeatsCount } from './content-keys.js'
import {
  type ActivityEvent,
  type EventResult,
  isOperatorEvent,
  operations,
  type SagaEvent,
  type SagaLifecycleEvent,
} from './events.js'
import { SagaRejection } from './rejection.js'
import { type ActivityFacts, concernsSaga, deriveSagaState, linkToParent, type Saga } from './saga.js'

export interface AppliedEvent {
  result: EventResult
  /** The saga of the event; null while its activity is parked. */
  sagaId: string | null
  /** False when the same content was received before, so that nothing has to be stored. */
  isNew: boolean
}

/** Data of a received event besides the event itself. */
export interface Receipt {
  /** See {@link contentKeyOf}; null when the sender identifies its events by ids. */
  contentKey?: string | null
  /** The attempt of the event, if the sender names it. */
  attempt?: number | null
  /** The parent of the event's saga, if the sender names it. */
  parentSagaId?: string | null
}

/**
 * Returns whether applying an event may require the facts of all activities of the saga. Most events do not.
 *
 * @param saga the stored saga of the event
 * @param activity the stored activity of the event; null when there is none
 */
export const needsFacts = (event: SagaEvent, saga: Saga, activity: Activity | null): boolean =>
  operations[event.operation].needsFacts ||
  concernsSaga(saga, activity ?? { finalAbort: false, overtimeNamedSaga: false })

/** The facts of all activities of a saga, on which its status and outcome depend. */
interface SagaFacts {
  /**
   * Facts of the activities that are not loaded. Each occurs once, because only the kinds of facts matter and
   * not their number.
   */
  others: readonly ActivityFacts[]
  /** Facts of the loaded and the new activities, by their ids. */
  loaded: Map<string, ActivityFacts>
}

/**
 * Applies events to the loaded sagas and activities of one tenant. When an empty ledger applies every event
 * of the log in order, its state equals that of the database.
 */
export class SagaLedger {
  readonly #strict: boolean
  readonly #sagas = new Map<string, Saga>()
  readonly #activities = new Map<string, Activity>()
  /** Facts of all activities of a saga, by its id. Null: the facts are not loaded. */
  readonly #facts = new Map<string, SagaFacts | null>()
  readonly #changedSagas = new Set<string>()
  readonly #changedActivities = new Set<string>()

  /**
   * Makes an empty ledger.
   *
   * @param strict refuse events out of order
   */
  constructor({ strict = false }: { strict?: boolean } = {}) {
    this.#strict = strict
  }

  /**
   * Adds a saga.
   *
   * @param others facts of the activities of the saga that are not loaded, equal facts only once; null when
   * no event to apply {@link needsFacts}
   */
  loadSaga(saga: Saga, others: readonly ActivityFacts[] | null): void {
    this.#sagas.set(saga.id, saga)
    this.#facts.set(saga.id, others && { others, loaded: new Map() })
  }

  /** Adds an activity, after its saga. */
  loadActivity(activity: Activity): void {
    this.#activities.set(activity.id, activity)
    if (activity.sagaId !== null) this.#facts.get(activity.sagaId)?.loaded.set(activity.id, activity)
  }

  /**
   * Applies an event. A `duplicate` changes no fact.
   *
   * @throws SagaRejection when the event is refused; nothing is changed then
   */
  apply(event: SagaEvent, receivedAt: Date, receipt: Receipt = {}): AppliedEvent {
    return 'activityId' in event
      ? this.#applyToActivity(event, receivedAt, receipt)
      : this.#applyToSaga(event, receivedAt, receipt)
  }

  get sagas(): Saga[] {
    return [...this.#sagas.values()]
  }

  get activities(): Activity[] {
    return [...this.#activities.values()]
  }

  /** Returns the sagas that an event changed or created since they were loaded. */
  get changedSagas(): Saga[] {
    return Array.from(this.#changedSagas, (id) => this.#sagas.get(id) as Saga)
  }

  /** Returns the activities that an event changed or created since they were loaded. */
  get changedActivities(): Activity[] {
    return Array.from(this.#changedActivities, (id) => this.#activities.get(id) as Activity)
  }

  findSaga(id: string): Saga | undefined {
    return this.#sagas.get(id)
  }

  findActivity(id: string): Activity | undefined {
    return this.#activities.get(id)
  }

  #applyToSaga(event: SagaLifecycleEvent, receivedAt: Date, receipt: Receipt): AppliedEvent {
    const { contentKey = null, parentSagaId = null } = receipt
    const before = this.#sagas.get(event.sagaId) ?? null
    if (contentKey !== null && before && hasContentKey(before.contentKeys, contentKey)) {
      return { result: 'duplicate', sagaId: before.id, isNew: false }
    }
    const { saga, result } = applySagaEvent(before, event, receivedAt)
    if (this.#strict) refuseDisorder(event, result, before)
    const derived = result === 'duplicate' ? saga : this.#derive(before, saga)
    const linked = linkToParent(derived, parentSagaId)
    if (result !== 'duplicate' || contentKey !== null || linked !== derived)
      this.#keepSaga(before, linked, contentKey)
    return { result, sagaId: saga.id, isNew: true }
  }

  #applyToActivity(event: ActivityEvent, receivedAt: Date, receipt: Receipt): AppliedEvent {
    const { contentKey = null, attempt = null, parentSagaId = null } = receipt
    const before = this.#activities.get(event.activityId) ?? null
    const key = contentKey === null || repeatsCount(event) ? null : keyInAttempt(contentKey, before)
    if (key !== null && before && hasContentKey(before.contentKeys, key)) {
      return { result: 'duplicate', sagaId: before.sagaId, isNew: false }
    }
    const applied = applyActivityEvent(before, event, receivedAt, attempt)
    const { activity, result } = applied
    const { sagaId } = activity
    const saga = sagaId === null ? null : (this.#sagas.get(sagaId) ?? null)
    if (this.#strict) refuseDisorder(event, result, saga)
    if (activity !== before) this.#noteInSaga(activity, saga, receivedAt)
    if (activity !== before || key !== null) this.#keepActivity(before, activity, key)
    if (sagaId !== null) this.#linkSaga(sagaId, parentSagaId)
    return { result, sagaId, isNew: true }
  }

  /**
   * Stores an activity.
   *
   * @param before the loaded activity, which callers may hold, so it is copied before a change
   */
  #keepActivity(before: Activity | null, activity: Activity, key: string | null): void {
    const kept = activity === before ? { ...activity } : activity
    if (key !== null) kept.contentKeys = addContentKey(kept.contentKeys, key)
    this.#activities.set(activity.id, kept)
    this.#changedActivities.add(activity.id)
  }

  #noteInSaga(activity: Activity, saga: Saga | null, receivedAt: Date): void {
    const { sagaId } = activity
    if (sagaId === null) return
    this.#factsOf(sagaId)?.loaded.set(activity.id, activity)
    let noted = noteActivityEvent(saga, sagaId, receivedAt)
    if (concernsSaga(noted, activity)) noted = deriveSagaState(noted, this.#allFactsOf(sagaId))
    if (noted === saga) return
    // When the row is written anyway, it gets the time of its newest event.
    if (receivedAt > noted.lastEventAt) noted.lastEventAt = receivedAt
    this.#keepSaga(saga, noted, null)
  }

  #linkSaga(sagaId: string, parentSagaId: string | null): void {
    const saga = this.#sagas.get(sagaId)
    const linked = saga && linkToParent(saga, parentSagaId)
    if (saga && linked && linked !== saga) this.#keepSaga(saga, linked, null)
  }

  /** Derives status and outcome. A start or a repeated end does not require the facts of the activities. */
  #derive(before: Saga | null, saga: Saga): Saga {
    const concerned = saga.endedAt !== before?.endedAt || saga.resolvedAt !== before?.resolvedAt
    if (before && concerned) return deriveSagaState(saga, this.#allFactsOf(saga.id))
    if (!before) return deriveSagaState(saga, [])
    if (saga.status === 'Pending' && saga.startedAt) saga.status = 'Started'
    return saga
  }

  /**
   * Stores a saga.
   *
   * @param before the loaded saga, which callers may hold, so it is copied before a change
   */
  #keepSaga(before: Saga | null, saga: Saga, key: string | null): void {
    const kept = saga === before ? { ...saga } : saga
    if (key !== null) kept.contentKeys = addContentKey(kept.contentKeys, key)
    this.#sagas.set(saga.id, kept)
    this.#changedSagas.add(saga.id)
  }

  #allFactsOf(sagaId: string): ActivityFacts[] {
    const facts = this.#factsOf(sagaId)
    if (!facts) throw new Error(`the facts of the activities of saga ${sagaId} are needed and not loaded`)
    return [...facts.others, ...facts.loaded.values()]
  }

  /** Returns the facts of a saga. A saga that was not loaded is new and has no activities. */
  #factsOf(sagaId: string): SagaFacts | null {
    let facts = this.#facts.get(sagaId)
    if (facts === undefined) {
      facts = { others: [], loaded: new Map() }
      this.#facts.set(sagaId, facts)
    }
    return facts
  }
}

/**
 * Refuses events out of order, in strict mode. Repeated events are allowed.
 *
 * @param saga the saga before the event; null when there is none
 * @throws SagaRejection SAGA_UNKNOWN | SAGA_ALREADY_ENDED | TRANSITION_NOT_ALLOWED
 */
function refuseDisorder(event: SagaEvent, result: EventResult, saga: Saga | null): void {
  if (result === 'duplicate' || isOperatorEvent(event)) return
  const isStart = event.operation === 'SagaStarted'
  if (!isStart && !saga?.startedAt) throw new SagaRejection('SAGA_UNKNOWN', 'its start has not been reported')
  if (saga?.endedAt) throw new SagaRejection('SAGA_ALREADY_ENDED', `saga ${saga.id} has ended`)
  if (result === 'late' || result === 'conflict recorded') {
    throw new SagaRejection('TRANSITION_NOT_ALLOWED', 'a recorded status takes precedence over this event')
  }
}
