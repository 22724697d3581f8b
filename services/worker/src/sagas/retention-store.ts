import { type Database, inPoolTransaction, type PoolClient, type Pooled } from '@switchyard/db'
import type { RetainedActivity, RetainedSaga } from '@switchyard/domain/saga'
import { keyText, lockKeys, type TenantKey, tenantKeyArrays } from '@switchyard/saga-store'
import { ofAnyKind } from './flags-store.js'
import { countedUpTo } from './metrics-store.js'

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

const retainedList = `s.tenant, s.id, s.service_name AS "serviceName", s.status, s.outcome,
  s.ended_at AS "endedAt", s.expires_at AS "expiresAt", s.last_event_at AS "lastEventAt",
  s.resolved_at AS "resolvedAt"`

type Row = RetentionCandidate & { position: string[] }

/** Reads a page of sagas, and the start of the next one. */
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

/** A function that reads a page of candidates whose time is before an instant, after a position. */
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

/** Reads sagas whose expiry, which their clients set, has passed. */
export const readExpired = byTime('expires_at', 'true')

/** Reads sagas without an end that an operator resolved before an instant. */
export const readResolved = byTime('resolved_at', 's.ended_at IS NULL')

/** Reads sagas without an expiry that ended before an instant, tenant by tenant. */
export const readEnded: ReadCandidates = async (database, after, endedBefore, rowsMax) => {
  const { pool } = database
  const [tenant, ...position] = after ?? [await nextTenant(pool, ''), '-infinity', '']
  if (!tenant) return { candidates: [], next: null }
  const { candidates, next } = await readPage(
    database,
    `SELECT ${retainedList}, ARRAY[s.tenant, s.ended_at::text, s.id] AS position FROM sagas s
     WHERE s.tenant = $1 AND s.ended_at <= $4 AND (s.ended_at, s.id) > ($2::timestamptz, $3) AND s.expires_at IS NULL
     ORDER BY s.ended_at, s.id LIMIT $5`,
    [tenant, ...position, endedBefore],
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

/** Reads sagas that have been settled since before an instant. */
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

/**
 * Deletes tombstones from before an instant. A tombstone stays while the log has events of its saga or
 * activity, so that a rebuild from the log does not restore the saga.
 *
 * @param after the position at which to continue; null: from the oldest tombstone
 * @returns the position for the next call; null when there are no further tombstones
 */
export async function deleteTombstones(
  { pool }: Pooled,
  { before, after, rowsMax }: { before: Date; after: readonly string[] | null; rowsMax: number },
): Promise<readonly string[] | null> {
  const { rows } = await pool.query<{ position: string[] }>(
    `WITH page AS (
      SELECT tenant, kind, id, purged_at FROM saga_tombstones
      WHERE purged_at < $1 AND (purged_at, tenant, kind, id) > ($2::timestamptz, $3, $4, $5)
      ORDER BY purged_at, tenant, kind, id LIMIT $6
    ), gone AS (
      DELETE FROM saga_tombstones t USING page p
      WHERE t.tenant = p.tenant AND t.kind = p.kind AND t.id = p.id AND CASE p.kind
        WHEN 'saga' THEN NOT EXISTS (
          SELECT FROM saga_events e WHERE e.tenant = p.tenant AND e.saga_id = p.id)
        ELSE NOT EXISTS (
          SELECT FROM saga_events e WHERE e.tenant = p.tenant AND e.activity_id = p.id AND e.saga_id IS NULL)
      END
    )
    SELECT ARRAY[purged_at::text, tenant, kind, id] AS position FROM page ORDER BY purged_at, tenant, kind, id`,
    [before, ...(after ?? ['-infinity', '', '', '']), rowsMax],
  )
  return rows.length < rowsMax ? null : (rows.at(-1)?.position ?? null)
}

export interface PurgedSaga extends TenantKey {
  serviceName: string | null
}

type SagaActivity = RetainedActivity & { tenant: string; id: string; sagaId: string }

const given = 'unnest($1::text[], $2::text[]) AS given(tenant, id)'

const activitiesOf = `SELECT a.tenant, a.id, a.saga_id AS "sagaId", a.status, a.last_event_at AS "lastEventAt"
  FROM ${given} JOIN saga_activities a ON a.tenant = given.tenant AND a.saga_id = given.id`

const sagasOf = `SELECT ${retainedList} FROM ${given} JOIN sagas s USING (tenant, id)`

/**
 * A query for sagas with an event or a flag that webhooks or metrics have not processed yet. Metrics do not
 * delay it when no process has begun to count.
 */
const unprocessedOf = `SELECT given.tenant, given.id FROM ${given}
  CROSS JOIN (SELECT LEAST(c.position, ${countedUpTo}) AS position, c.flags_set_at
      FROM webhook_cursors c WHERE c.name = 'sagas') AS processed
  WHERE EXISTS (SELECT FROM saga_events e
      WHERE e.tenant = given.tenant AND e.saga_id = given.id AND e.id > processed.position)
    OR EXISTS (SELECT FROM saga_flags f
      WHERE f.tenant = given.tenant AND f.saga_id = given.id AND f.set_at > processed.flags_set_at)`

/**
 * The deletion of sagas with all their rows, except events, which stay until their day of the log is dropped.
 */
const purge = `WITH given AS (SELECT * FROM ${given}),
  purged AS (
    DELETE FROM saga_activities a USING given g WHERE a.tenant = g.tenant AND a.saga_id = g.id RETURNING a.tenant, a.id
  ),
  sagas_gone AS (DELETE FROM sagas s USING given g WHERE s.tenant = g.tenant AND s.id = g.id),
  tags_gone AS (DELETE FROM saga_tags t USING given g WHERE t.tenant = g.tenant AND t.saga_id = g.id),
  errors_gone AS (DELETE FROM saga_errors e USING given g WHERE e.tenant = g.tenant AND e.saga_id = g.id),
  notes_gone AS (DELETE FROM saga_notes n USING given g WHERE n.tenant = g.tenant AND n.saga_id = g.id),
  leases_gone AS (DELETE FROM saga_leases l USING given g WHERE l.tenant = g.tenant AND l.saga_id = g.id),
  commands_gone AS (DELETE FROM saga_commands c USING given g WHERE c.tenant = g.tenant AND c.saga_id = g.id),
  flags_gone AS (
    DELETE FROM saga_flags f USING given g WHERE f.tenant = g.tenant AND f.saga_id = g.id
      AND ${ofAnyKind}
  )
  INSERT INTO saga_tombstones (tenant, kind, id)
  SELECT tenant, 'saga', id FROM given UNION ALL SELECT tenant, 'activity', id FROM purged
  ON CONFLICT (tenant, kind, id) DO UPDATE SET purged_at = EXCLUDED.purged_at`

/**
 * Deletes sagas with all their rows and leaves tombstones, atomically. It locks the rows in the same way as
 * recording: an event is either recorded before, so that `isDue` sees it, or it finds the tombstone. A saga
 * stays until webhooks and metrics have processed its last event, because they need its rows.
 *
 * @param isDue decides with the locked rows of a saga
 * @returns the deleted sagas
 */
export async function purgeSagas(
  { pool }: Pooled,
  keys: readonly TenantKey[],
  isDue: (saga: RetainedSaga, activities: readonly RetainedActivity[]) => boolean,
): Promise<PurgedSaga[]> {
  if (keys.length === 0) return []
  const { rows: expected } = await pool.query<SagaActivity>(activitiesOf, tenantKeyArrays(keys))
  return inPoolTransaction(pool, (client) => purgeLocked(client, keys, expected, isDue))
}

async function purgeLocked(
  client: PoolClient,
  keys: readonly TenantKey[],
  expected: readonly SagaActivity[],
  isDue: (saga: RetainedSaga, activities: readonly RetainedActivity[]) => boolean,
): Promise<PurgedSaga[]> {
  await lockKeys(client, { activities: expected, sagas: keys })
  const { rows: sagas } = await client.query<RetentionCandidate>(sagasOf, tenantKeyArrays(keys))
  const { rows: activities } = await client.query<SagaActivity>(activitiesOf, tenantKeyArrays(keys))
  const { rows: unprocessed } = await client.query<TenantKey>(unprocessedOf, tenantKeyArrays(keys))
  const waiting = new Set(unprocessed.map(keyText))
  const locked = new Set(expected.map(keyText))
  const due = sagas.flatMap((saga) => {
    const own = activities.filter(({ tenant, sagaId }) => tenant === saga.tenant && sagaId === saga.id)
    // An activity that was added while this transaction waited is not locked, so the next run deletes the
    // saga.
    const isWhole = own.every((activity) => locked.has(keyText(activity)))
    const mayGo = isWhole && !waiting.has(keyText(saga)) && isDue(saga, own)
    const { tenant, id, serviceName } = saga
    return mayGo ? [{ tenant, id, serviceName }] : []
  })
  if (due.length > 0) await client.query(purge, tenantKeyArrays(due))
  return due
}
