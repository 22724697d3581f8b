import { inPoolTransaction, type PoolClient, type Pooled } from '@switchyard/db'
import { retryConflicts } from '../retry-conflicts.js'
import { foldBatch } from './fold-batch.js'
import type { NewSagaEvent, RecordedSagaEvent } from './new-saga-event.js'
import { readBatch } from './read-batch.js'
import { writeBatch } from './write-batch.js'

export interface SagaEventStore {
  /**
   * Appends events to the log and derives sagas and activities from them, in one transaction that is
   * committed before it resolves. Several calls may run at the same time, in this process and in other
   * processes.
   *
   * An event whose id or content is known is a `duplicate` and not stored again. An event about a saga or
   * activity that retention has removed is `late` and not stored either.
   *
   * @returns the result of each event, in their order
   * @throws DomainError unavailable when other transactions keep inserting the same rows
   */
  record(events: readonly NewSagaEvent[]): Promise<RecordedSagaEvent[]>
  /**
   * Runs `work` in one transaction, in which it may record events once, as {@link record} does. The
   * transaction is committed before the promise resolves. `work` runs again after a conflict with another
   * transaction.
   *
   * @throws DomainError unavailable when other transactions keep inserting the same rows
   */
  recordWithin<T>(work: (transaction: RecordingTransaction) => Promise<T>): Promise<T>
}

export interface RecordingTransaction {
  client: PoolClient
  record(events: readonly NewSagaEvent[]): Promise<RecordedSagaEvent[]>
}

/** The tenants of the committed events, and the highest id of these events in the log. */
export interface CommittedBatch {
  tenants: string[]
  to: string
}

export interface SagaEventStoreOptions {
  /** Refuse events that contradict the known state. */
  strict?: boolean
  /** Called after each commit that added to the log. It must return at once and not throw. */
  onCommitted?: (batch: CommittedBatch) => void
}

/**
 * Creates the writer of sagas, which reads the rows of a batch under locks, applies the events and writes the
 * changes.
 */
export function createSagaEventStore(
  { pool }: Pooled,
  { strict = false, onCommitted }: SagaEventStoreOptions = {},
): SagaEventStore {
  async function recordWithin<T>(work: (transaction: RecordingTransaction) => Promise<T>): Promise<T> {
    const { value, committed } = await retryConflicts(() =>
      inPoolTransaction(pool, async (client) => {
        const batches: CommittedBatch[] = []
        const value = await work({
          client,
          async record(events) {
            if (events.length === 0) return []
            const batch = foldBatch(events, await readBatch(client, events), strict)
            const to = await writeBatch(client, batch)
            const tenants = [...new Set(batch.logged.map(({ received }) => received.tenant))]
            if (to !== null) batches.push({ tenants, to })
            return batch.results
          },
        })
        return { value, committed: batches }
      }),
    )
    for (const batch of committed) onCommitted?.(batch)
    return value
  }

  return {
    record: async (events) => (events.length === 0 ? [] : recordWithin(({ record }) => record(events))),
    recordWithin,
  }
}
