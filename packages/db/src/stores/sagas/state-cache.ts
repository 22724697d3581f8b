import type { Activity, ActivityFacts, Saga } from '@switchyard/domain/saga'
import { LRUCache } from 'lru-cache'
import { stripeOf } from './lock-stripes.js'
import { nowhere, type Place } from './places.js'

/** A batch that is being folded or written. */
export interface BatchMark {
  done: Promise<unknown>
}

/** What this process knows of a saga. It may be out of date: its version tells. */
export interface SagaEntry {
  tenant: string
  id: string
  stripe: number
  /** Of its row; 0 while it has none. */
  version: number
  /** Where the row was seen last. */
  place: Place
  saga: Saga | null
  /** Of all of its activities; null when they were not read. */
  facts: Map<string, ActivityFacts> | null
  /** Sum of the versions of these activities' rows: it grows with each of their changes. */
  factsSum: number
  batch: BatchMark | null
}

/** What this process knows of an activity. */
export interface ActivityEntry {
  tenant: string
  id: string
  stripe: number
  version: number
  place: Place
  activity: Activity | null
  batch: BatchMark | null
}

/** About what an entry takes beside the texts and payloads it keeps. */
const entryBytes = 1000

/** Ended sagas that are kept: what is still reported about one is mostly a repetition right after its end. */
const endedMax = 2000

const keyOf = (tenant: string, id: string): string => `${tenant}\0${id}`

/**
 * The sagas and activities that were reported about last, bounded by bytes. Sagas that have ended go early, and their
 * activities with them: the more is kept, the longer the collector is at work to mark it. That is also why nothing
 * bounds the number of the others: the cache would hold room for all of them from the start.
 */
export class StateCache {
  readonly #sagas: LRUCache<string, SagaEntry>
  readonly #ended: LRUCache<string, SagaEntry>
  readonly #activities: LRUCache<string, ActivityEntry>

  /** @param bytesMax of all entries together, about */
  constructor(bytesMax: number) {
    this.#sagas = new LRUCache({ maxSize: (bytesMax * 3) / 8, sizeCalculation: sagaBytes })
    this.#ended = new LRUCache({
      max: endedMax,
      maxSize: bytesMax / 8,
      sizeCalculation: sagaBytes,
      dispose: (entry, _, reason) => {
        if (reason === 'evict') this.#forgetActivitiesOf(entry)
      },
    })
    this.#activities = new LRUCache({ maxSize: bytesMax / 2, sizeCalculation: activityBytes })
  }

  findSaga(tenant: string, id: string): SagaEntry | undefined {
    const key = keyOf(tenant, id)
    return this.#sagas.get(key) ?? this.#ended.get(key)
  }

  findActivity(tenant: string, id: string): ActivityEntry | undefined {
    return this.#activities.get(keyOf(tenant, id))
  }

  keepSaga(entry: SagaEntry): void {
    // Entries change in place; the cache measures one anew only when it comes in.
    this.forgetSaga(entry)
    const kept = entry.saga?.endedAt ? this.#ended : this.#sagas
    kept.set(keyOf(entry.tenant, entry.id), entry)
  }

  keepActivity(entry: ActivityEntry): void {
    this.forgetActivity(entry)
    this.#activities.set(keyOf(entry.tenant, entry.id), entry)
  }

  forgetSaga(entry: SagaEntry): void {
    const key = keyOf(entry.tenant, entry.id)
    this.#sagas.delete(key)
    this.#ended.delete(key)
  }

  forgetActivity(entry: ActivityEntry): void {
    this.#activities.delete(keyOf(entry.tenant, entry.id))
  }

  #forgetActivitiesOf({ tenant, facts }: SagaEntry): void {
    for (const id of facts?.keys() ?? []) this.#activities.delete(keyOf(tenant, id))
  }
}

const sagaBytes = ({ facts }: SagaEntry): number => entryBytes + (facts === null ? 0 : facts.size * 150)

const activityBytes = ({ activity }: ActivityEntry): number =>
  entryBytes +
  (activity?.resultData?.length ?? 0) +
  (activity?.executeErrors?.length ?? 0) * 2 +
  (activity?.compensateErrors?.length ?? 0) * 2

export const newSagaEntry = (tenant: string, id: string): SagaEntry => ({
  tenant,
  id,
  stripe: stripeOf('saga', tenant, id),
  version: 0,
  place: nowhere,
  saga: null,
  facts: new Map(),
  factsSum: 0,
  batch: null,
})

export const newActivityEntry = (tenant: string, id: string): ActivityEntry => ({
  tenant,
  id,
  stripe: stripeOf('activity', tenant, id),
  version: 0,
  place: nowhere,
  activity: null,
  batch: null,
})
