import type { DerivedRow, DerivedRows, LoggedEvent } from '@switchyard/db'
import { DomainError } from '@switchyard/domain'
import { type Activity, type Saga, SagaLedger, SagaRejection } from '@switchyard/domain/saga'
import { loggedEvent } from './logged-event.js'

export interface Folded extends DerivedRows {
  /** Ids of entries that the rules refuse by now. */
  refused: string[]
}

/** What follows from these entries of the log, which are in its order. */
export function foldLog(entries: readonly LoggedEvent[]): Folded {
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
  const rowsOf = (rows: (ledger: SagaLedger) => (Saga | Activity)[]): DerivedRow[] =>
    [...ledgers].flatMap(([tenant, ledger]) =>
      rows(ledger).map((row) => ({ ...row, tenant, contentKeys: Buffer.from(row.contentKeys, 'latin1') })),
    )
  return {
    sagas: rowsOf((ledger) => ledger.sagas),
    activities: rowsOf((ledger) => ledger.activities),
    refused,
  }
}
