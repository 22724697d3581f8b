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

export interface CacheLimits {
  entriesMax: number
  bytesMax: number
}

/** About what an entry takes beside the texts and payloads it keeps. */
const entryBytes = 1000

const keyOf = (tenant: string, id: string): string => `${tenant}\0${id}`

/** The sagas and activities that were reported about last, bounded by number and by bytes. */
export class StateCache {
  readonly #sagas: LRUCache<string, SagaEntry>
  readonly #activities: LRUCache<string, ActivityEntry>

  constructor({ entriesMax, bytesMax }: CacheLimits) {
    this.#sagas = new LRUCache({ max: entriesMax, maxSize: bytesMax / 2, sizeCalculation: sagaBytes })
    this.#activities = new LRUCache({
      max: entriesMax,
      maxSize: bytesMax / 2,
      sizeCalculation: activityBytes,
    })
  }

  findSaga(tenant: string, id: string): SagaEntry | undefined {
    return this.#sagas.get(keyOf(tenant, id))
  }

  findActivity(tenant: string, id: string): ActivityEntry | undefined {
    return this.#activities.get(keyOf(tenant, id))
  }

  keepSaga(entry: SagaEntry): void {
    this.#sagas.set(keyOf(entry.tenant, entry.id), entry)
  }

  keepActivity(entry: ActivityEntry): void {
    this.#activities.set(keyOf(entry.tenant, entry.id), entry)
  }

  forgetSaga(entry: SagaEntry): void {
    this.#sagas.delete(keyOf(entry.tenant, entry.id))
  }

  forgetActivity(entry: ActivityEntry): void {
    this.#activities.delete(keyOf(entry.tenant, entry.id))
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
