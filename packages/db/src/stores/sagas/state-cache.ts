import { type Activity, type ActivityFacts, keyInTenant, type Saga } from '@switchyard/domain/saga'
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
  /** As what it counts in the cache. */
  bytes: number
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
  /** As what it counts in the cache. */
  bytes: number
  batch: BatchMark | null
}

/** About what an entry takes beside the texts and payloads it keeps. */
const entryBytes = 1000

/**
 * Ended sagas that are kept: what is still reported about one is mostly a repetition right after its end. Few enough for
 * a saga of some hundred milliseconds to be given up before the collector has taken it for old.
 */
const endedMax = 30

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
    this.#sagas = new LRUCache<string, SagaEntry>({ maxSize: (bytesMax * 3) / 8, sizeCalculation: bytesOf })
    this.#ended = new LRUCache<string, SagaEntry>({
      max: endedMax,
      maxSize: bytesMax / 8,
      sizeCalculation: bytesOf,
      dispose: (entry, _, reason) => {
        if (reason === 'evict') this.#forgetActivitiesOf(entry)
      },
    })
    this.#activities = new LRUCache<string, ActivityEntry>({
      maxSize: bytesMax / 2,
      sizeCalculation: bytesOf,
    })
  }

  findSaga(tenant: string, id: string): SagaEntry | undefined {
    const key = keyInTenant(tenant, id)
    return this.#sagas.get(key) ?? this.#ended.get(key)
  }

  findActivity(tenant: string, id: string): ActivityEntry | undefined {
    return this.#activities.get(keyInTenant(tenant, id))
  }

  keepSaga(entry: SagaEntry): void {
    const key = keyInTenant(entry.tenant, entry.id)
    const hasEnded = entry.saga?.endedAt
    const others = hasEnded ? this.#sagas : this.#ended
    others.delete(key)
    keep(hasEnded ? this.#ended : this.#sagas, key, entry, sagaBytes(entry))
  }

  keepActivity(entry: ActivityEntry): void {
    keep(this.#activities, keyInTenant(entry.tenant, entry.id), entry, activityBytes(entry))
  }

  forgetSaga(entry: SagaEntry): void {
    const key = keyInTenant(entry.tenant, entry.id)
    this.#sagas.delete(key)
    this.#ended.delete(key)
  }

  forgetActivity(entry: ActivityEntry): void {
    this.#activities.delete(keyInTenant(entry.tenant, entry.id))
  }

  #forgetActivitiesOf({ tenant, facts }: SagaEntry): void {
    for (const id of facts?.keys() ?? []) this.#activities.delete(keyInTenant(tenant, id))
  }
}

/** Entries change in place, and the cache counts one only when it comes in; most stay as large as they are. */
function keep<Entry extends { bytes: number }>(
  cache: LRUCache<string, Entry>,
  key: string,
  entry: Entry,
  bytes: number,
): void {
  if (entry.bytes === bytes && cache.get(key) === entry) return
  entry.bytes = bytes
  cache.delete(key)
  cache.set(key, entry)
}

const bytesOf = ({ bytes }: { bytes: number }): number => bytes

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
  bytes: 0,
  batch: null,
})

export const newActivityEntry = (tenant: string, id: string): ActivityEntry => ({
  tenant,
  id,
  stripe: stripeOf('activity', tenant, id),
  version: 0,
  place: nowhere,
  activity: null,
  bytes: 0,
  batch: null,
})
