import type { DerivedRow, LoggedEvent } from '@switchyard/db'
import { DomainError } from '@switchyard/domain'
import { type Activity, type Saga, SagaLedger, SagaRejection } from '@switchyard/domain/saga'
import { loggedEvent } from './logged-event.js'

export interface FoldedLog {
  sagas: DerivedRow<Saga>[]
  activities: DerivedRow<Activity>[]
  /** Ids of entries that today's rules refuse. */
  refused: string[]
}

/** The rows that follow from these entries of the log, which are in its order. */
export function foldLog(entries: readonly LoggedEvent[]): FoldedLog {
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
