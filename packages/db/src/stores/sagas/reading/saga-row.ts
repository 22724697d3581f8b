import type { Saga, SagaFlag } from '@switchyard/domain/saga'
import { sagaTable } from '../tables/sagas.js'
import type { Readable } from './read-query.js'
import { readSagaDetails, type SagaDetails } from './saga-details.js'

const shown = [
  'id',
  'serviceName',
  'status',
  'outcome',
  'late',
  'addTime',
  'startedAt',
  'endedAt',
  'expiresAt',
  'resolvedAt',
  'resolvedBy',
  'parentSagaId',
  'firstSeenAt',
  'lastEventAt',
] as const satisfies (keyof Saga)[]

/** A row as {@link sagaRowColumns} select it. */
export interface SagaRow extends Pick<Saga, (typeof shown)[number]> {
  tenant: string
}

/** A saga as readers see it; its `lastEventAt` is that of the saga or of one of its activities. */
export interface SagaView extends SagaRow {
  tags: string[]
  flags: SagaFlag[]
}

/** The columns that are selected of a row `s` of sagas. */
export const sagaRowColumns = `s.tenant, ${sagaTable.listOf('s', shown)}`

/** The rows of one tenant, together with their details from other tables. */
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
