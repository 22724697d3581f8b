import type { SagaFlag, SagaStatus } from '@switchyard/domain/saga'
import type { Readable } from './read-query.js'
import { readSagaDetails, type SagaDetails } from './saga-details.js'

/** A saga as readers see it. */
export interface SagaView {
  tenant: string
  id: string
  serviceName: string | null
  status: SagaStatus
  outcome: string | null
  late: boolean
  addTime: Date | null
  startedAt: Date | null
  endedAt: Date | null
  expiresAt: Date | null
  /** When an operator resolved the saga, and the operator's name. */
  resolvedAt: Date | null
  resolvedBy: string | null
  firstSeenAt: Date
  /** Of the saga and of its activities. */
  lastEventAt: Date
  tags: string[]
  flags: SagaFlag[]
}

/** A row as {@link sagaRowColumns} select it. */
export type SagaRow = Omit<SagaView, 'flags' | 'tags'>

/** The columns that are selected of a row `s` of sagas. */
export const sagaRowColumns = `s.tenant, s.id, s.service_name AS "serviceName", s.status, s.outcome, s.late,
  s.add_time AS "addTime", s.started_at AS "startedAt", s.ended_at AS "endedAt", s.expires_at AS "expiresAt",
  s.resolved_at AS "resolvedAt", s.resolved_by AS "resolvedBy",
  s.first_seen_at AS "firstSeenAt", s.last_event_at AS "lastEventAt"`

/** The rows of one tenant, together with what other tables hold about them. */
export async function readSagaViews(database: Readable, rows: readonly SagaRow[]): Promise<SagaView[]> {
  const [first] = rows
  if (!first) return []
  const details = await readSagaDetails(
    database,
    first.tenant,
    rows.map(({ id }) => id),
  )
  return rows.map((row) => toSagaView(row, details.get(row.id)))
}

export function toSagaView(row: SagaRow, details: SagaDetails | undefined): SagaView {
  const { lastEventAt, tags, flags } = details ?? { lastEventAt: null, tags: [], flags: [] }
  const last = lastEventAt && lastEventAt > row.lastEventAt ? lastEventAt : row.lastEventAt
  return { ...row, lastEventAt: last, tags, flags }
}
