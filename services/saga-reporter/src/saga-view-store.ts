import type { Pooled } from '@switchyard/db'
import type { Saga, SagaFlag, SagaFlagKind } from '@switchyard/domain/saga'
import { sagaTable } from '@switchyard/saga-store'
import { readRows } from './limited-database.js'

export const lastActivityEvent = `(SELECT max(a.last_event_at) FROM saga_activities a
  WHERE a.tenant = s.tenant AND a.saga_id = s.id)`

/** SQL of the time at which the last event about a saga `s` or its activities was received. */
export const lastEvent = `greatest(s.last_event_at, ${lastActivityEvent})`

/** The data of a saga that is stored in other tables. */
export interface SagaDetails {
  /** The latest event of its activities; null without any. */
  lastEventAt: Date | null
  tags: string[]
  flags: SagaFlag[]
}

type DetailRow = { sagaId: string; time: Date | null } & (
  | { what: 'event' }
  | { what: 'tag'; text: string }
  | { what: 'flag'; text: SagaFlagKind; activityId: string }
)

const of = (alias: string) => `${alias}.tenant = $1 AND ${alias}.saga_id = ANY($2::text[])`

/** One look-up in each index for all sagas of a page takes half as long as one look-up for each saga. */
const details = {
  name: 'saga-read-details',
  text: `SELECT a.saga_id AS "sagaId", 'event' AS what, NULL AS text, NULL AS "activityId", max(a.last_event_at) AS time
      FROM saga_activities a WHERE ${of('a')} GROUP BY a.saga_id
    UNION ALL
    SELECT t.saga_id, 'tag', t.tag, NULL, NULL FROM saga_tags t WHERE ${of('t')}
    UNION ALL
    SELECT f.saga_id, 'flag', f.kind, f.activity_id, f.since FROM saga_flags f WHERE ${of('f')}`,
}

/** Reads details by the ids of the sagas; sagas without details are missing. */
export async function readSagaDetails(
  database: Pooled,
  tenant: string,
  sagaIds: readonly string[],
): Promise<Map<string, SagaDetails>> {
  const found = new Map<string, SagaDetails>()
  if (sagaIds.length === 0) return found
  for (const row of await readRows<DetailRow>(database, { ...details, values: [tenant, sagaIds] })) {
    let saga = found.get(row.sagaId)
    if (!saga) {
      saga = { lastEventAt: null, tags: [], flags: [] }
      found.set(row.sagaId, saga)
    }
    add(row, saga)
  }
  for (const { tags, flags } of found.values()) {
    tags.sort()
    flags.sort((a, b) => compare(a.kind, b.kind) || compare(a.activityId ?? '', b.activityId ?? ''))
  }
  return found
}

function add(row: DetailRow, saga: SagaDetails): void {
  if (row.what === 'tag') saga.tags.push(row.text)
  else if (row.what === 'event') saga.lastEventAt = row.time
  else if (row.time) saga.flags.push({ kind: row.text, activityId: row.activityId || null, since: row.time })
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

const shownOfSaga = [
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

/** A row that {@link sagaRowColumns} select. */
export interface SagaRow extends Pick<Saga, (typeof shownOfSaga)[number]> {
  tenant: string
}

/** A saga for readers; `lastEventAt` is the latest event of the saga or of one of its activities. */
export interface SagaView extends SagaRow {
  tags: string[]
  flags: SagaFlag[]
}

/** The selected columns of a row `s` of sagas. */
export const sagaRowColumns = `s.tenant, ${sagaTable.listOf('s', shownOfSaga)}`

/** Adds the details from other tables to rows, which all belong to the same tenant. */
export async function readSagaViews(database: Pooled, rows: readonly SagaRow[]): Promise<SagaView[]> {
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
