import { DomainError } from '@switchyard/domain'
import {
  type Activity,
  contentKeyOf,
  type Receipt,
  type Saga,
  type SagaEvent,
  SagaLedger,
  SagaRejection,
} from '@switchyard/domain/saga'
import type { TenantKey } from '@switchyard/saga-store'
import { sagaEventOf } from '../report/report.js'
import { decoders } from '../shapes/operations.js'
import { type Difference, differencesOf } from './differences.js'
import type { DerivedRow, RebuildSession, StoredEvent } from './store.js'

export interface RebuildOptions {
  session: RebuildSession
  /** Whether differing rows are corrected; otherwise they are only reported. */
  repair: boolean
  onDifference(difference: Difference): void
  /** Called with the id of each entry of the log that today's rules refuse. */
  onRefused(id: string): void
}

export interface RebuildCounts {
  sagas: number
  activities: number
  differences: number
  repaired: number
}

/** Number of sagas whose events fit into memory with all payloads. */
const sagasAtOnce = 20
const rowsMax = 1000

/**
 * Folds the whole log, saga by saga, and compares the derived rows with the stored ones. Events may be
 * recorded meanwhile. Rows without an event are reported and never deleted.
 */
export async function rebuildSagas(options: RebuildOptions): Promise<RebuildCounts> {
  const { session } = options
  const counts: RebuildCounts = { sagas: 0, activities: 0, differences: 0, repaired: 0 }
  await forEachPage(
    (after) => session.nextSagas(after, sagasAtOnce),
    (sagas) => rebuildUnit(options, counts, sagas, () => session.readEvents(sagas)),
  )
  await forEachPage(
    (after) => session.nextParked(after, rowsMax),
    (activities) => rebuildUnit(options, counts, [], () => session.readParkedEvents(activities)),
  )
  for (const table of ['sagas', 'saga_activities'] as const) {
    await forEachPage(
      (after) => session.nextWithoutEvents(table, after, rowsMax),
      async (keys) => {
        for (const key of keys) reportDifference(options, counts, { table, ...key, what: 'unexpected' })
      },
    )
  }
  return counts
}

async function forEachPage(
  read: (after: TenantKey | null) => Promise<TenantKey[]>,
  work: (page: TenantKey[]) => Promise<void>,
): Promise<void> {
  let page = await read(null)
  while (page.length > 0) {
    await work(page)
    page = await read(page.at(-1) ?? null)
  }
}

function reportDifference(
  { onDifference }: RebuildOptions,
  counts: RebuildCounts,
  difference: Difference,
): void {
  counts.differences += 1
  onDifference(difference)
}

async function rebuildUnit(
  options: RebuildOptions,
  counts: RebuildCounts,
  sagas: readonly TenantKey[],
  readEvents: () => Promise<StoredEvent[]>,
): Promise<void> {
  const { session, repair, onRefused } = options
  const found = await session.atOnce(null, () => compare(session, sagas, readEvents))
  counts.sagas += found.sagas.length
  counts.activities += found.activities.length
  found.refused.forEach(onRefused)
  for (const difference of found.differences) reportDifference(options, counts, difference)
  if (!repair || found.differences.length === 0) return
  // The rows are compared again under locks, because reporters may have changed them since the first
  // comparison.
  counts.repaired += await session.atOnce({ sagas, activities: found.activities }, async () => {
    const locked = await compare(session, sagas, readEvents)
    return writeRows(session, locked)
  })
}

interface Comparison extends FoldedLog {
  differences: Difference[]
}

async function compare(
  session: RebuildSession,
  sagas: readonly TenantKey[],
  readEvents: () => Promise<StoredEvent[]>,
): Promise<Comparison> {
  const folded = foldLog(await readEvents())
  const stored = await session.readRows(sagas, folded.activities)
  const differences = [
    ...differencesOf('sagas', stored.sagas, folded.sagas),
    ...differencesOf('saga_activities', stored.activities, folded.activities),
  ]
  // Rows without an event are searched at the end, so that each is reported once.
  return { ...folded, differences: differences.filter(({ what }) => what !== 'unexpected') }
}

async function writeRows(
  session: RebuildSession,
  { sagas, activities, differences }: Comparison,
): Promise<number> {
  for (const { table, tenant, id } of differences) {
    const isIt = (row: TenantKey) => row.tenant === tenant && row.id === id
    const saga = table === 'sagas' && sagas.find(isIt)
    const activity = table === 'saga_activities' && activities.find(isIt)
    if (saga) await session.writeSaga(saga)
    if (activity) await session.writeActivity(activity)
  }
  return differences.length
}

export interface FoldedLog {
  sagas: DerivedRow<Saga>[]
  activities: DerivedRow<Activity>[]
  /** Ids of entries that today's rules refuse. */
  refused: string[]
}

/** Derives the rows from entries of the log, which must be in order. */
function foldLog(entries: readonly StoredEvent[]): FoldedLog {
  const ledgers = new Map<string, SagaLedger>()
  const refused: string[] = []
  for (const entry of entries) {
    const ledger = ledgers.get(entry.tenant) ?? new SagaLedger()
    ledgers.set(entry.tenant, ledger)
    try {
      const { event, receipt } = loggedEvent(entry)
      ledger.apply(event, entry.receivedAt, receipt)
    } catch (error) {
      if (!(error instanceof SagaRejection || error instanceof DomainError)) throw error
      refused.push(entry.id)
    }
  }
  const rowsOf = <Row>(rows: (ledger: SagaLedger) => Row[]): DerivedRow<Row>[] =>
    [...ledgers].flatMap(([tenant, ledger]) => rows(ledger).map((row) => ({ ...row, tenant })))
  return {
    sagas: rowsOf((ledger) => ledger.sagas),
    activities: rowsOf((ledger) => ledger.activities),
    refused,
  }
}

/** Returns the event of a log entry, and the further data of its receiver. */
function loggedEvent(entry: StoredEvent): { event: SagaEvent; receipt: Receipt } {
  const decode = decoders[entry.operation as SagaEvent['operation']]
  const { payloadSize: size, payloadSha256: sha256 } = entry
  // The request in the log has only the head of a large payload or text.
  const cut = size === null || sha256 === null ? null : { size, sha256 }
  return {
    // A recorded event stays valid, even if a service name has become required since then.
    event: sagaEventOf(decode(entry.request), entry.eventTime, { serviceNameRequired: false }, cut),
    receipt: {
      contentKey: entry.eventId === null ? contentKeyOf(entry.contentKey) : null,
      attempt: entry.attempt,
      parentSagaId: entry.parentSagaId,
    },
  }
}
