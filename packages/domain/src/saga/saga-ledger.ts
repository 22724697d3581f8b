import type { Activity } from './activity.js'
import { applyActivityEvent } from './apply-activity-event.js'
import { applySagaEvent, noteActivityEvent } from './apply-saga-event.js'
import type { ActivityEvent, EventResult, SagaEvent, SagaLifecycleEvent } from './events.js'
import { type ActivityFacts, type Saga, settleSaga } from './saga.js'

export interface AppliedEvent {
  result: EventResult
  /** The saga the event belongs to; null while its activity is parked. */
  sagaId: string | null
}

/**
 * Sagas and activities of one tenant, as far as they are loaded, and what events make of them. An empty ledger that
 * is given every event of the log, in the order of the log, holds what the database holds.
 */
export class SagaLedger {
  readonly #sagas = new Map<string, Saga>()
  readonly #activities = new Map<string, Activity>()
  /** Activity facts by id, by saga: of every activity of a loaded saga, loaded itself or not. */
  readonly #facts = new Map<string, Map<string, ActivityFacts>>()
  readonly #changedSagas = new Set<string>()
  readonly #changedActivities = new Set<string>()

  /** @param facts of every activity of the saga */
  loadSaga(saga: Saga, facts: Iterable<ActivityFacts & { id: string }>): void {
    this.#sagas.set(saga.id, saga)
    this.#facts.set(saga.id, new Map([...facts].map((fact) => [fact.id, fact])))
  }

  loadActivity(activity: Activity): void {
    this.#activities.set(activity.id, activity)
  }

  /**
   * Adds what the event tells. A `duplicate` changes nothing.
   *
   * @throws SagaRejection when the event contradicts what it refers to; nothing is changed then.
   */
  apply(event: SagaEvent, receivedAt: Date): AppliedEvent {
    return event.operation === 'SagaStarted' || event.operation === 'SagaEnded'
      ? this.#applyToSaga(event, receivedAt)
      : this.#applyToActivity(event, receivedAt)
  }

  get sagas(): Saga[] {
    return [...this.#sagas.values()]
  }

  get activities(): Activity[] {
    return [...this.#activities.values()]
  }

  /** Those that an event changed since they were loaded. */
  get changedSagas(): Saga[] {
    return this.sagas.filter(({ id }) => this.#changedSagas.has(id))
  }

  get changedActivities(): Activity[] {
    return this.activities.filter(({ id }) => this.#changedActivities.has(id))
  }

  #applyToSaga(event: SagaLifecycleEvent, receivedAt: Date): AppliedEvent {
    const { saga, result } = applySagaEvent(this.#sagas.get(event.sagaId) ?? null, event, receivedAt)
    if (result !== 'duplicate') this.#keepSaga(saga)
    return { result, sagaId: saga.id }
  }

  #applyToActivity(event: ActivityEvent, receivedAt: Date): AppliedEvent {
    const before = this.#activities.get(event.activityId) ?? null
    const { activity, result } = applyActivityEvent(before, event, receivedAt)
    const { sagaId } = activity
    if (result === 'duplicate') return { result, sagaId }
    this.#activities.set(activity.id, activity)
    this.#changedActivities.add(activity.id)
    if (sagaId !== null) {
      this.#factsOf(sagaId).set(activity.id, activity)
      this.#keepSaga(noteActivityEvent(this.#sagas.get(sagaId) ?? null, sagaId, receivedAt))
    }
    return { result, sagaId }
  }

  #keepSaga(saga: Saga): void {
    this.#sagas.set(saga.id, settleSaga(saga, [...this.#factsOf(saga.id).values()]))
    this.#changedSagas.add(saga.id)
  }

  #factsOf(sagaId: string): Map<string, ActivityFacts> {
    const facts = this.#facts.get(sagaId) ?? new Map<string, ActivityFacts>()
    this.#facts.set(sagaId, facts)
    return facts
  }
}
