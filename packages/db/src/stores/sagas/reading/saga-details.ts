import type { SagaFlag, SagaFlagKind } from '@switchyard/domain/saga'
import { type Readable, readRows } from './read-query.js'

/** The data about a saga that is stored in other tables. */
export interface SagaDetails {
  /** Of its activities; null without any. */
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

/** Details by the ids of the sagas; sagas without any details are missing. */
export async function readSagaDetails(
  database: Readable,
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
