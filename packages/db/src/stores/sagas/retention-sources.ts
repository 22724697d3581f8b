import type { RetainedSaga } from '@switchyard/domain/saga'
import type { Database } from '../../client.js'

type Pooled = Pick<Database, 'pool'>

/** A saga that retention may have to remove. Its activities have not been read yet. */
export interface RetentionCandidate extends RetainedSaga {
  tenant: string
  id: string
}

export interface RetentionPage {
  candidates: RetentionCandidate[]
  /** The position at which the next page begins; null when there is no further page. */
  next: readonly string[] | null
}

export const retainedList = `s.tenant, s.id, s.service_name AS "serviceName", s.status, s.outcome,
  s.ended_at AS "endedAt", s.expires_at AS "expiresAt", s.last_event_at AS "lastEventAt",
  s.resolved_at AS "resolvedAt"`

type Row = RetentionCandidate & { position: string[] }

/** A page of sagas, and where the next one begins. */
async function readPage(
  { pool }: Pooled,
  text: string,
  values: unknown[],
  rowsMax: number,
): Promise<RetentionPage> {
  const { rows } = await pool.query<Row>(text, [...values, rowsMax])
  return {
    candidates: rows.map(({ position: _, ...candidate }) => candidate),
    next: rows.length < rowsMax ? null : (rows.at(-1)?.position ?? null),
  }
}

/** Reads a page of candidates whose time is before an instant, after a position. */
type ReadCandidates = (
  database: Pooled,
  after: readonly string[] | null,
  before: Date,
  rowsMax: number,
) => Promise<RetentionPage>

const byTime =
  (column: string, condition: string): ReadCandidates =>
  (database, after, before, rowsMax) =>
    readPage(
      database,
      `SELECT ${retainedList}, ARRAY[s.${column}::text, s.tenant, s.id] AS position FROM sagas s
       WHERE s.${column} <= $4 AND ${condition} AND (s.${column}, s.tenant, s.id) > ($1::timestamptz, $2, $3)
       ORDER BY s.${column}, s.tenant, s.id LIMIT $5`,
      [...(after ?? ['-infinity', '', '']), before],
      rowsMax,
    )

/** Sagas whose expiry, which their clients set, has passed. */
export const readExpired = byTime('expires_at', 'true')

/** Sagas without an end that an operator resolved before an instant. */
export const readResolved = byTime('resolved_at', 's.ended_at IS NULL')

/** Sagas without an expiry that ended before an instant, tenant by tenant. */
export const readEnded: ReadCandidates = async (database, after, endedBefore, rowsMax) => {
  const { pool } = database
  const [tenant, ...place] = after ?? [await nextTenant(pool, ''), '-infinity', '']
  if (!tenant) return { candidates: [], next: null }
  const { candidates, next } = await readPage(
    database,
    `SELECT ${retainedList}, ARRAY[s.tenant, s.ended_at::text, s.id] AS position FROM sagas s
     WHERE s.tenant = $1 AND s.ended_at <= $4 AND (s.ended_at, s.id) > ($2::timestamptz, $3) AND s.expires_at IS NULL
     ORDER BY s.ended_at, s.id LIMIT $5`,
    [tenant, ...place, endedBefore],
    rowsMax,
  )
  if (next) return { candidates, next }
  const following = await nextTenant(pool, tenant)
  return { candidates, next: following === null ? null : [following, '-infinity', ''] }
}

async function nextTenant(pool: Database['pool'], after: string): Promise<string | null> {
  const { rows } = await pool.query<{ tenant: string }>(
    'SELECT tenant FROM sagas WHERE tenant > $1 ORDER BY tenant LIMIT 1',
    [after],
  )
  return rows[0]?.tenant ?? null
}

/** Sagas that have been settled since before an instant. */
export const readSettled: ReadCandidates = (database, after, settledBefore, rowsMax) =>
  readPage(
    database,
    `SELECT ${retainedList}, ARRAY[f.tenant, f.saga_id] AS position
     FROM (SELECT tenant, saga_id FROM saga_flags
       WHERE kind = 'settled' AND (tenant, saga_id) > ($1, $2) AND since <= $3
       ORDER BY tenant, saga_id LIMIT $4) f
     JOIN sagas s ON s.tenant = f.tenant AND s.id = f.saga_id
     ORDER BY f.tenant, f.saga_id`,
    [...(after ?? ['', '']), settledBefore],
    rowsMax,
  )
