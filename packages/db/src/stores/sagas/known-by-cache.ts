import { sagaIdOf } from '@switchyard/domain/saga'
import type { BatchChanges } from './batch-parameters.js'
import type { KnownState } from './fold-batch.js'
import { keepChanges } from './keep-changes.js'
import type { NewSagaEvent } from './new-saga-event.js'
import {
  type ActivityEntry,
  type BatchMark,
  newActivityEntry,
  newSagaEntry,
  type SagaEntry,
  type StateCache,
} from './state-cache.js'

/** It must be read whether there is a row, because there probably is one. */
export class NotKnown extends Error {}

/**
 * What this process knows. Of ids it has never seen, those that begin something are taken to be new; the database finds
 * out when they are not.
 */
export class KnownByCache implements KnownState {
  readonly #cache: StateCache
  readonly #mark: BatchMark
  #sagas: SagaEntry[] = []
  #activities: ActivityEntry[] = []

  constructor(cache: StateCache, mark: BatchMark) {
    this.#cache = cache
    this.#mark = mark
  }

  /** Resolves when no other batch of this process is about what these events are about. */
  async waitForOthers(events: readonly NewSagaEvent[]): Promise<void> {
    for (let other = this.#otherOf(events); other; other = this.#otherOf(events))
      await other.done.catch(() => {})
  }

  #otherOf(events: readonly NewSagaEvent[]): BatchMark | null {
    for (const { tenant, event } of events) {
      const activity = 'activityId' in event ? this.#cache.findActivity(tenant, event.activityId) : undefined
      if (activity?.batch) return activity.batch
      const sagaId = activity?.activity?.sagaId ?? sagaIdOf(event)
      const saga = sagaId === null ? undefined : this.#cache.findSaga(tenant, sagaId)
      if (saga?.batch) return saga.batch
    }
    return null
  }

  saga({ tenant, event }: NewSagaEvent, id: string): SagaEntry {
    let entry = this.#cache.findSaga(tenant, id)
    if (entry?.batch === this.#mark) return entry
    if (!entry) {
      if (event.operation !== 'SagaStarted') throw new NotKnown()
      entry = newSagaEntry(tenant, id)
      this.#cache.keepSaga(entry)
    }
    this.#sagas.push(entry)
    return entry
  }

  activity({ tenant, event }: NewSagaEvent, id: string): ActivityEntry {
    let entry = this.#cache.findActivity(tenant, id)
    if (entry?.batch === this.#mark) return entry
    if (!entry) {
      if (event.operation !== 'ActivityExecuteStarted') throw new NotKnown()
      entry = newActivityEntry(tenant, id)
      this.#cache.keepActivity(entry)
    }
    this.#activities.push(entry)
    return entry
  }

  /** The database compares ids and tombstones itself. */
  isRecorded(): boolean {
    return false
  }

  isPurged(): boolean {
    return false
  }

  /** The batch was written. */
  keep(changes: BatchChanges): void {
    keepChanges(this.#cache, changes)
    this.release()
  }

  /** Nothing of it may be relied on. */
  forget(): void {
    for (const entry of this.#sagas) this.#cache.forgetSaga(entry)
    for (const entry of this.#activities) this.#cache.forgetActivity(entry)
    this.release()
  }

  release(): void {
    for (const entry of this.#sagas) entry.batch = null
    for (const entry of this.#activities) entry.batch = null
    this.#sagas = []
    this.#activities = []
  }
}
