import { FactsMissing } from '@switchyard/domain/saga'
import type { PoolClient } from 'pg'
import type { BatchChanges } from './batch-parameters.js'
import { type Fold, foldBatch, type KnownState } from './fold-batch.js'
import { keepChanges } from './keep-changes.js'
import type { NewSagaEvent } from './new-saga-event.js'
import { readActivities, readFacts, readRecordedIds, readSagas, readTombstones } from './read-state.js'
import { activityKeys, eventIdKeys, keyText, type SagaKey } from './saga-keys.js'
import {
  type ActivityEntry,
  type BatchMark,
  newActivityEntry,
  newSagaEntry,
  type SagaEntry,
  type StateCache,
} from './state-cache.js'

/** An activity was told its saga after the transaction had chosen what to lock. */
export class SagaNotLocked extends Error {}

/** Reads what the events are about, under its locks, and folds them. */
export async function readKnown(
  client: PoolClient,
  cache: StateCache,
  events: readonly NewSagaEvent[],
  sagaKeys: readonly SagaKey[],
  strict: boolean,
): Promise<{ fold: Fold; keep: (changes: BatchChanges) => void }> {
  const mark: BatchMark = { done: Promise.resolve() }
  const known = await read(client, events, sagaKeys)
  let fold: Fold
  try {
    fold = foldBatch(events, known, mark, strict)
  } catch (error) {
    if (!(error instanceof FactsMissing)) throw error
    await known.readFacts(client)
    fold = foldBatch(events, known, { ...mark }, strict)
  }
  return { fold, keep: (changes) => known.keep(cache, changes) }
}

class KnownByDatabase implements KnownState {
  readonly #sagas: Map<string, SagaEntry>
  readonly #activities: Map<string, ActivityEntry>
  readonly #recordedIds: Set<string>
  readonly #purged: { saga: Set<string>; activity: Set<string> }

  constructor(
    sagas: Map<string, SagaEntry>,
    activities: Map<string, ActivityEntry>,
    recordedIds: Set<string>,
    purged: { saga: Set<string>; activity: Set<string> },
  ) {
    this.#sagas = sagas
    this.#activities = activities
    this.#recordedIds = recordedIds
    this.#purged = purged
  }

  saga({ tenant }: NewSagaEvent, id: string): SagaEntry {
    const entry = this.#sagas.get(keyText({ tenant, id }))
    if (!entry) throw new SagaNotLocked('an activity was told its saga meanwhile')
    return entry
  }

  activity({ tenant }: NewSagaEvent, id: string): ActivityEntry {
    const entry = this.#activities.get(keyText({ tenant, id }))
    if (!entry) throw new Error('an activity that was not asked for')
    return entry
  }

  isRecorded(tenant: string, eventId: string): boolean {
    return this.#recordedIds.has(keyText({ tenant, id: eventId }))
  }

  isPurged(kind: 'saga' | 'activity', tenant: string, id: string): boolean {
    return this.#purged[kind].has(keyText({ tenant, id }))
  }

  /** A fold that missed them has left nothing to rely on but what was read. */
  async readFacts(client: PoolClient): Promise<void> {
    const stored = [...this.#sagas.values()].filter(({ version }) => version > 0)
    for (const entry of this.#sagas.values()) {
      entry.facts = new Map()
      entry.factsSum = 0
    }
    for (const { tenant, sagaId, id, version, ...facts } of await readFacts(client, stored)) {
      const entry = this.#sagas.get(keyText({ tenant, id: sagaId }))
      entry?.facts?.set(id, {
        status: facts.status,
        finalAbort: facts.finalAbort,
        overtimeNamedSaga: facts.overtimeNamedSaga,
        givenUpAt: facts.givenUpAt,
      })
      if (entry) entry.factsSum += version
    }
  }

  keep(cache: StateCache, changes: BatchChanges): void {
    for (const entry of this.#sagas.values()) {
      entry.batch = null
      if (entry.version > 0) cache.keepSaga(entry)
    }
    for (const entry of this.#activities.values()) {
      entry.batch = null
      if (entry.version > 0) cache.keepActivity(entry)
    }
    for (const { entry } of changes.sagas) cache.keepSaga(entry)
    keepChanges(cache, changes)
  }
}

async function read(
  client: PoolClient,
  events: readonly NewSagaEvent[],
  sagaKeys: readonly SagaKey[],
): Promise<KnownByDatabase> {
  const sagas = new Map(sagaKeys.map((key) => [keyText(key), newSagaEntry(key.tenant, key.id)]))
  const keys = activityKeys(events)
  const activities = new Map(keys.map((key) => [keyText(key), newActivityEntry(key.tenant, key.id)]))
  for (const { tenant, version, place, row } of await readSagas(client, sagaKeys)) {
    Object.assign(sagas.get(keyText({ tenant, id: row.id })) ?? {}, {
      version,
      place,
      saga: row,
      facts: null,
    })
  }
  for (const { tenant, version, place, row } of await readActivities(client, keys)) {
    Object.assign(activities.get(keyText({ tenant, id: row.id })) ?? {}, { version, place, activity: row })
  }
  const recordedIds = await readRecordedIds(client, eventIdKeys(events))
  const missing = (entries: Map<string, SagaEntry | ActivityEntry>) =>
    [...entries.values()].filter(({ version }) => version === 0)
  const purgedSagas = await readTombstones(client, 'saga', missing(sagas))
  const purgedActivities = await readTombstones(client, 'activity', missing(activities))
  return new KnownByDatabase(sagas, activities, new Set(recordedIds.map(keyText)), {
    saga: new Set(purgedSagas.map(keyText)),
    activity: new Set(purgedActivities.map(keyText)),
  })
}
