import { setTimeout as delay } from 'node:timers/promises'
import { type SagaLedger, SagaRejection } from '@switchyard/domain/saga'
import type { PoolClient } from 'pg'
import type { Database } from '../../client.js'
import { sqlStateOf } from '../../database-failure.js'
import { contentText, findRecordedContents, findRecordedIds } from './find-recorded.js'
import { beginLocked, keyText, type SagaKey } from './lock-sagas.js'
import type { NewSagaEvent, RecordedSagaEvent } from './new-saga-event.js'
import { findSagaKeys, ledgerOf, readLedgers } from './read-ledgers.js'
import { statement } from './statement.js'
import { type LoggedSagaEvent, toLogged, writeSagaEvents } from './write-events.js'

const commit = statement('COMMIT')

const attemptsMax = 10
const pauseMsMax = 20

const serializationFailure = '40001'
const deadlockDetected = '40P01'

/** An activity was told its saga after this transaction had chosen what to lock. */
class SagaNotLocked extends Error {}

/**
 * Appends events to the log and derives sagas and activities from them, all in one transaction; what it returns is
 * committed. Safe to run at the same time as itself, in this process and in others: events about one saga or activity
 * wait for each other.
 *
 * An event whose id is in the log, or which tells nothing new in words that are in the log, is answered `duplicate`
 * and not stored again.
 *
 * @returns for each event, in their order, what the caller is to be told
 */
export async function recordSagaEvents(
  { pool }: Pick<Database, 'pool'>,
  events: readonly NewSagaEvent[],
): Promise<RecordedSagaEvent[]> {
  for (let attempt = 1; ; attempt += 1) {
    const sagaKeys = await findSagaKeys(pool, events)
    const client = await pool.connect()
    try {
      const recorded = await recordLocked(client, events, sagaKeys)
      client.release()
      return recorded
    } catch (error) {
      // Whatever state the connection is in: closing it undoes the transaction and frees its locks.
      client.release(true)
      if (attempt === attemptsMax || !mayRetry(error)) throw error
    }
    await delay(Math.random() * pauseMsMax)
  }
}

function mayRetry(error: unknown): boolean {
  const state = sqlStateOf(error)
  return error instanceof SagaNotLocked || state === serializationFailure || state === deadlockDetected
}

async function recordLocked(
  client: PoolClient,
  events: readonly NewSagaEvent[],
  sagaKeys: readonly SagaKey[],
): Promise<RecordedSagaEvent[]> {
  await beginLocked(client, events, sagaKeys)
  const ledgers = await readLedgers(client, events, sagaKeys)
  const recordedIds = await findRecordedIds(client, events)
  const outcomes = applyEvents(events, ledgers, recordedIds)
  refuseUnlocked(outcomes, sagaKeys)
  const logged = await withoutRepeats(client, outcomes)
  if (logged.length > 0) await writeSagaEvents(client, ledgers, logged)
  await client.query(commit)
  return outcomes.map(({ result }) => result)
}

interface Outcome {
  received: NewSagaEvent
  result: RecordedSagaEvent
  sagaId: string | null
  /** The caller's id of it is in the log, or was given to an event before it. */
  known: boolean
}

function applyEvents(
  events: readonly NewSagaEvent[],
  ledgers: ReadonlyMap<string, SagaLedger>,
  recordedIds: ReadonlySet<string>,
): Outcome[] {
  const ids = new Set(recordedIds)
  return events.map((received) => {
    const { tenant, eventId, event, receivedAt } = received
    const id = eventId === null ? null : keyText({ tenant, id: eventId })
    if (id !== null && ids.has(id)) return { received, result: 'duplicate', sagaId: null, known: true }
    try {
      const applied = ledgerOf(ledgers, tenant).apply(event, receivedAt)
      if (id !== null) ids.add(id)
      return { received, ...applied, known: false }
    } catch (error) {
      if (!(error instanceof SagaRejection)) throw error
      return { received, result: error, sagaId: null, known: false }
    }
  })
}

function refuseUnlocked(outcomes: readonly Outcome[], sagaKeys: readonly SagaKey[]): void {
  const locked = new Set(sagaKeys.map(keyText))
  const isLocked = ({ received: { tenant }, sagaId }: Outcome) =>
    sagaId === null || locked.has(keyText({ tenant, id: sagaId }))
  if (!outcomes.every(isLocked)) throw new SagaNotLocked()
}

/** The rows for the log: neither rejections, nor what is in it or among the rows already. */
async function withoutRepeats(client: PoolClient, outcomes: readonly Outcome[]): Promise<LoggedSagaEvent[]> {
  const mayRepeat = ({ received, result, known }: Outcome) =>
    result === 'duplicate' && received.eventId === null && !known
  const repeated = outcomes.filter(mayRepeat).map(({ received }) => received)
  const contents = await findRecordedContents(client, repeated)
  return outcomes.flatMap((outcome) => {
    const { received, result, sagaId, known } = outcome
    if (known || result instanceof SagaRejection) return []
    const content = contentText(received)
    if (mayRepeat(outcome) && contents.has(content)) return []
    contents.add(content)
    return [toLogged(received, result, sagaId)]
  })
}
