import { setTimeout as delay } from 'node:timers/promises'
import { FactsMissing } from '@switchyard/domain/saga'
import type { Pool, PoolClient } from 'pg'
import type { Database } from '../../client.js'
import { sqlStateOf } from '../../database-failure.js'
import { type BatchCall, batchCall, changesOf, type RowTypeOids, rowTypeNames } from './batch-parameters.js'
import { type Fold, foldBatch } from './fold-batch.js'
import { KnownByCache, NotKnown } from './known-by-cache.js'
import { readKnown, SagaNotLocked } from './known-by-database.js'
import { inLockOrder, stripeOf } from './lock-stripes.js'
import type { NewSagaEvent, RecordedSagaEvent } from './new-saga-event.js'
import { setPlaces } from './places.js'
import { activityKeys, eventIdKeys, findSagaKeys, type SagaKey } from './saga-keys.js'
import { type BatchMark, StateCache } from './state-cache.js'
import { statement } from './statement.js'

export interface SagaEventStore {
  /**
   * Appends events to the log and derives sagas and activities from them, all in one transaction; what it returns is
   * committed. Safe to run at the same time as itself, in this process and in others.
   *
   * An event whose id or content is known is answered `duplicate` and not stored again; one about what retention has
   * removed is `late` and not stored either.
   *
   * @returns for each event, in their order, what the caller is to be told
   */
  record(events: readonly NewSagaEvent[]): Promise<RecordedSagaEvent[]>
}

/** What was committed: whose events, and the highest id that the log has of them. */
export interface CommittedBatch {
  tenants: string[]
  to: string
}

export interface SagaEventStoreOptions {
  /** Refuse what does not follow from what is known. */
  strict?: boolean
  /** Told after each commit that added to the log; it must return at once and not throw. */
  onCommitted?: (batch: CommittedBatch) => void
}

const ingest = statement(
  `SELECT * FROM saga_ingest(${Array.from({ length: 13 }, (_, index) => `$${index + 1}`).join(', ')})`,
  'saga-ingest',
)
/** Arrays are read as they come: the library's parser would make many texts of them. */
const asText = { getTypeParser: () => (value: string) => value }
const rowTypes = statement(
  'SELECT given.name, given.name::regtype::oid::integer AS oid FROM unnest($1::text[]) AS given(name)',
)
const commit = statement('COMMIT')
const rollback = statement('ROLLBACK')
/** What `saga_ingest` returns when something known has changed. */
const nothingWritten = '-1'

const attemptsMax = 10
const pauseMsMax = 20
/** After a batch whose knowledge was out of date, so many are read first; twice as many after the next one. */
const carefulBatchesMax = 64
const cacheBytesMax = 256 * 1024 * 1024

const serializationFailure = '40001'
const deadlockDetected = '40P01'
const uniqueViolation = '23505'

/**
 * The writing side of sagas. What a batch is about is usually known to this process, so that it is folded and written
 * in one round trip, which fails when another process has written meanwhile; then everything is read under the locks.
 */
export const createSagaEventStore = (
  { pool }: Pick<Database, 'pool'>,
  options: SagaEventStoreOptions = {},
): SagaEventStore => new Store(pool, options)

class Store implements SagaEventStore {
  readonly #pool: Pool
  readonly #strict: boolean
  readonly #onCommitted: (batch: CommittedBatch) => void
  readonly #cache: StateCache
  /** So many batches are read before they are folded. */
  #careful = 0
  #carefulNext = 1

  constructor(pool: Pool, { strict = false, onCommitted = () => {} }: SagaEventStoreOptions) {
    this.#pool = pool
    this.#strict = strict
    this.#onCommitted = onCommitted
    this.#cache = new StateCache(cacheBytesMax)
  }

  record(events: readonly NewSagaEvent[]): Promise<RecordedSagaEvent[]> {
    const mark: BatchMark = { done: Promise.resolve() }
    const recorded = this.#record(events, mark)
    mark.done = recorded
    return recorded
  }

  async #record(events: readonly NewSagaEvent[], mark: BatchMark): Promise<RecordedSagaEvent[]> {
    try {
      if (this.#careful > 0) this.#careful -= 1
      else {
        const results = await this.#recordKnown(events, mark)
        if (results) return results
      }
      return await this.#recordRead(events)
    } catch (error) {
      rowTypesOf.delete(this.#pool)
      throw error
    }
  }

  /** Null when the database must be asked first. */
  async #recordKnown(events: readonly NewSagaEvent[], mark: BatchMark): Promise<RecordedSagaEvent[] | null> {
    const types = await findRowTypes(this.#pool)
    const known = new KnownByCache(this.#cache, mark)
    await known.waitForOthers(events)
    try {
      const fold = foldBatch(events, known, mark, this.#strict)
      if (mayRefuseRepetition(events, fold)) throw new NotKnown()
      const changes = changesOf(fold)
      const id = await write(this.#pool, batchCall(fold, changes, types, false))
      if (id === nothingWritten) return this.#outdated(known)
      known.keep(changes)
      this.#carefulNext = 1
      return this.#committed(fold, id)
    } catch (error) {
      // Whether it was written is not known, so neither is anything about it.
      known.forget()
      if (error instanceof NotKnown || error instanceof FactsMissing) return null
      if (isOutdated(error)) return this.#outdated(known)
      throw error
    }
  }

  #outdated(known: KnownByCache): null {
    known.forget()
    this.#careful = this.#carefulNext
    this.#carefulNext = Math.min(this.#carefulNext * 2, carefulBatchesMax)
    return null
  }

  async #recordRead(events: readonly NewSagaEvent[]): Promise<RecordedSagaEvent[]> {
    const types = await findRowTypes(this.#pool)
    for (let attempt = 1; ; attempt += 1) {
      const sagaKeys = await findSagaKeys(this.#pool, events)
      const client = await this.#pool.connect()
      try {
        const { fold, keep, changes, id } = await this.#recordLocked(client, events, sagaKeys, types)
        client.release()
        keep(changes)
        return this.#committed(fold, id)
      } catch (error) {
        const mayWork = error instanceof SagaNotLocked || isOutdated(error)
        await giveBack(client, mayWork)
        if (attempt === attemptsMax || !mayWork) throw error
      }
      await delay(Math.random() * pauseMsMax)
    }
  }

  async #recordLocked(
    client: PoolClient,
    events: readonly NewSagaEvent[],
    sagaKeys: readonly SagaKey[],
    types: RowTypeOids,
  ) {
    await client.query(statement(`BEGIN; SELECT saga_ingest_lock('{${lockedStripes(events, sagaKeys)}}')`))
    const { fold, keep } = await readKnown(client, this.#cache, events, sagaKeys, this.#strict)
    const changes = changesOf(fold)
    const id = await write(client, batchCall(fold, changes, types, true))
    if (id === nothingWritten) throw new SagaNotLocked('something was written without its lock')
    await client.query(commit)
    return { fold, keep, changes, id }
  }

  #committed({ logged, ledgers, results }: Fold, id: string): RecordedSagaEvent[] {
    if (logged.length > 0) this.#onCommitted({ tenants: [...ledgers.keys()], to: id })
    return results
  }
}

/** What is refused is not written, so the database would not find that its id is in the log, which makes it a duplicate. */
const mayRefuseRepetition = (events: readonly NewSagaEvent[], { results }: Fold): boolean =>
  results.some((result, index) => result instanceof Error && events[index]?.eventId !== null)

/** @returns the highest id of the log's new rows, or {@link nothingWritten} */
async function write(client: Pool | PoolClient, { parameters, written }: BatchCall): Promise<string> {
  const { rows } = await client.query<(string | null)[]>(ingestQuery(parameters))
  const [id, ...places] = rows[0] ?? []
  if (!id) throw new Error('saga_ingest returned nothing')
  for (const [index, entries] of written.entries()) setPlaces(entries, places[index] ?? '')
  return id
}

/** Field by field: V8 gives a copy to which something is added a shape of its own, and whoever reads it finds none known. */
const ingestQuery = (values: unknown[]) => ({
  text: ingest.text,
  name: ingest.name,
  query_timeout: ingest.query_timeout,
  rowMode: 'array' as const,
  types: asText,
  values,
})

/** Ends a transaction that failed. In a state that is not known, closing the connection is what frees its locks. */
async function giveBack(client: PoolClient, isUsable: boolean): Promise<void> {
  try {
    if (isUsable) await client.query(rollback)
    client.release(!isUsable)
  } catch {
    client.release(true)
  }
}

const rowTypesOf = new WeakMap<Pool, Promise<RowTypeOids>>()

/** They differ from database to database, and change when one is restored: asked again after a failure. */
function findRowTypes(pool: Pool): Promise<RowTypeOids> {
  let types = rowTypesOf.get(pool)
  if (!types) {
    types = readRowTypeOids(pool)
    rowTypesOf.set(pool, types)
  }
  return types
}

async function readRowTypeOids(pool: Pool): Promise<RowTypeOids> {
  const { rows } = await pool.query<{ name: string; oid: number }>({ ...rowTypes, values: [rowTypeNames] })
  return Object.fromEntries(rows.map(({ name, oid }) => [name, oid])) as RowTypeOids
}

const isOutdated = (error: unknown): boolean =>
  [serializationFailure, deadlockDetected, uniqueViolation].includes(sqlStateOf(error) ?? '')

/** Everything that the events may change: also activities whose saga is not known yet. */
function lockedStripes(events: readonly NewSagaEvent[], sagaKeys: readonly SagaKey[]): Int32Array {
  const of = (kind: 'saga' | 'activity' | 'event', keys: readonly SagaKey[]) =>
    keys.map(({ tenant, id }) => stripeOf(kind, tenant, id))
  return inLockOrder([
    ...of('event', eventIdKeys(events)),
    ...of('saga', sagaKeys),
    ...of('activity', activityKeys(events)),
  ])
}
