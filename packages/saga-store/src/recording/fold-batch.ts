import { forbidden } from '@switchyard/domain'
import {
  type Activity,
  contentKeyOf,
  type Saga,
  SagaLedger,
  SagaRejection,
  sagaIdOf,
} from '@switchyard/domain/saga'
import { keyText } from '../keys.js'
import type { Change, LoggedEvent } from '../tables.js'
import type { NewSagaEvent, RecordedSagaEvent } from './new-saga-event.js'
import type { BatchState } from './read-batch.js'

export interface FoldedBatch {
  logged: LoggedEvent[]
  sagas: Change<Saga>[]
  activities: Change<Activity>[]
  /** Returns a saga of the batch, after the batch. */
  findSaga(tenant: string, id: string): Saga | undefined
  /** One result for each event, in their order. */
  results: RecordedSagaEvent[]
}

/** Applies the events one after the other to the stored state. */
export function foldBatch(events: readonly NewSagaEvent[], state: BatchState, strict: boolean): FoldedBatch {
  const fold = new Fold(state, strict)
  const results = events.map((received) => fold.apply(received))
  return {
    logged: fold.logged,
    ...fold.changes(),
    findSaga: (tenant, id) => fold.ledgerOf(tenant).findSaga(id),
    results,
  }
}

class Fold {
  readonly logged: LoggedEvent[] = []
  readonly #state: BatchState
  readonly #ledgers = new Map<string, SagaLedger>()
  readonly #strict: boolean
  /** Callers' ids of the events of this batch that were applied. */
  readonly #appliedIds = new Set<string>()

  constructor(state: BatchState, strict: boolean) {
    this.#state = state
    this.#strict = strict
    for (const [key, { tenant, row }] of state.sagas)
      this.ledgerOf(tenant).loadSaga(row, state.otherFacts.get(key) ?? null)
    for (const { tenant, row } of state.activities.values()) this.ledgerOf(tenant).loadActivity(row)
  }

  ledgerOf(tenant: string): SagaLedger {
    let ledger = this.#ledgers.get(tenant)
    if (!ledger) {
      ledger = new SagaLedger({ strict: this.#strict })
      this.#ledgers.set(tenant, ledger)
    }
    return ledger
  }

  apply(received: NewSagaEvent): RecordedSagaEvent {
    const { tenant, event, eventId, receivedAt, attempt = null, parentSagaId = null } = received
    const idKey = eventId === null ? null : keyText({ tenant, id: eventId })
    if (idKey !== null && (this.#appliedIds.has(idKey) || this.#state.recordedIds.has(idKey)))
      return 'duplicate'
    if (this.#isPurged(received)) return 'late'
    const ledger = this.ledgerOf(tenant)
    if (isOfAnotherService(received, ledger))
      return forbidden(`the saga is not one of service ${received.ownService}`)
    try {
      const contentKey = eventId === null ? contentKeyOf(received.contentKey) : null
      const { result, sagaId, isNew } = ledger.apply(event, receivedAt, {
        contentKey,
        attempt,
        parentSagaId,
      })
      if (idKey !== null) this.#appliedIds.add(idKey)
      if (isNew) this.logged.push({ received, result, sagaId })
      return result
    } catch (error) {
      if (error instanceof SagaRejection) return error
      throw error
    }
  }

  #isPurged({ tenant, event }: NewSagaEvent): boolean {
    const { purgedSagas, purgedActivities } = this.#state
    const ledger = this.ledgerOf(tenant)
    let sagaId = sagaIdOf(event)
    if ('activityId' in event) {
      const activity = ledger.findActivity(event.activityId)
      if (!activity && purgedActivities.has(keyText({ tenant, id: event.activityId }))) return true
      sagaId = activity?.sagaId ?? sagaId
    }
    if (sagaId === null || ledger.findSaga(sagaId)) return false
    return purgedSagas.has(keyText({ tenant, id: sagaId }))
  }

  changes(): Pick<FoldedBatch, 'sagas' | 'activities'> {
    const { sagas, activities } = this.#state
    const of = <Row extends { id: string }>(
      rows: (ledger: SagaLedger) => Row[],
      stored: Map<string, { row: Row }>,
    ): Change<Row>[] =>
      [...this.#ledgers].flatMap(([tenant, ledger]) =>
        rows(ledger).map((row) => {
          const before = stored.get(keyText({ tenant, id: row.id }))?.row ?? null
          return { tenant, before, row }
        }),
      )
    return {
      sagas: of((ledger) => ledger.changedSagas, sagas),
      activities: of((ledger) => ledger.changedActivities, activities),
    }
  }
}

/**
 * Returns whether the event is about the saga of another service, while its sender may only report about its
 * own. A saga without a service name may belong to any service.
 */
function isOfAnotherService({ event, ownService }: NewSagaEvent, ledger: SagaLedger): boolean {
  if (ownService === null || ownService === undefined) return false
  const activity = 'activityId' in event ? ledger.findActivity(event.activityId) : undefined
  const sagaId = activity?.sagaId ?? sagaIdOf(event)
  const serviceName = sagaId === null ? undefined : ledger.findSaga(sagaId)?.serviceName
  return (serviceName ?? ownService) !== ownService
}
