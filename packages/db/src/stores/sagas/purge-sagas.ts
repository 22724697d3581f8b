import type { RetainedActivity, RetainedSaga } from '@switchyard/domain/saga'
import type { PoolClient } from 'pg'
import type { Database } from '../../client.js'
import { countedUpTo } from './ended-sagas.js'
import { lockRows } from './lock-rows.js'
import { type RetentionCandidate, retainedList } from './retention-sources.js'
import { keyText, type TenantKey, tenantKeyArrays } from './tenant-key.js'

export interface PurgedSaga extends TenantKey {
  serviceName: string | null
  activities: number
}

type SagaActivity = RetainedActivity & { tenant: string; id: string; sagaId: string }

const given = 'unnest($1::text[], $2::text[]) AS given(tenant, id)'

const activitiesOf = `SELECT a.tenant, a.id, a.saga_id AS "sagaId", a.status, a.last_event_at AS "lastEventAt"
  FROM ${given} JOIN saga_activities a ON a.tenant = given.tenant AND a.saga_id = given.id`

const sagasOf = `SELECT ${retainedList} FROM ${given} JOIN sagas s USING (tenant, id)`

/**
 * Sagas with an event or a flag that webhooks or figures have not processed yet. Figures are not waited for when no
 * process has begun to count.
 */
const untoldOf = `SELECT given.tenant, given.id FROM ${given}
  CROSS JOIN (SELECT LEAST(c.position, ${countedUpTo}) AS position, c.flags_set_at
      FROM webhook_cursors c WHERE c.name = 'sagas') AS told
  WHERE EXISTS (SELECT FROM saga_events e
      WHERE e.tenant = given.tenant AND e.saga_id = given.id AND e.id > told.position)
    OR EXISTS (SELECT FROM saga_flags f
      WHERE f.tenant = given.tenant AND f.saga_id = given.id AND f.set_at > told.flags_set_at)`

/** Deletes sagas with all that belongs to them, except events, which stay until their day of the log is dropped. */
const purge = `WITH given AS (SELECT * FROM ${given}),
  purged AS (
    DELETE FROM saga_activities a USING given g WHERE a.tenant = g.tenant AND a.saga_id = g.id RETURNING a.tenant, a.id
  ),
  sagas_gone AS (DELETE FROM sagas s USING given g WHERE s.tenant = g.tenant AND s.id = g.id),
  tags_gone AS (DELETE FROM saga_tags t USING given g WHERE t.tenant = g.tenant AND t.saga_id = g.id),
  errors_gone AS (DELETE FROM saga_errors e USING given g WHERE e.tenant = g.tenant AND e.saga_id = g.id),
  notes_gone AS (DELETE FROM saga_notes n USING given g WHERE n.tenant = g.tenant AND n.saga_id = g.id),
  leases_gone AS (DELETE FROM saga_leases l USING given g WHERE l.tenant = g.tenant AND l.saga_id = g.id),
  flags_gone AS (
    DELETE FROM saga_flags f USING given g WHERE f.tenant = g.tenant AND f.saga_id = g.id
      AND f.kind IN ('overdue', 'inconsistent', 'parked', 'stuck', 'settled')
  )
  INSERT INTO saga_tombstones (tenant, kind, id)
  SELECT tenant, 'saga', id FROM given UNION ALL SELECT tenant, 'activity', id FROM purged
  ON CONFLICT (tenant, kind, id) DO UPDATE SET purged_at = EXCLUDED.purged_at`

/**
 * Deletes sagas with all that belongs to them and leaves tombstones, all or none. It locks the rows like recording: an
 * event is either recorded before, and then `isDue` sees it, or it finds the tombstone. A saga stays until webhooks and
 * figures have processed its last event, because they need its rows.
 *
 * @param isDue asked about the locked rows of a saga
 * @returns the sagas that were deleted
 */
export async function purgeSagas(
  { pool }: Pick<Database, 'pool'>,
  keys: readonly TenantKey[],
  isDue: (saga: RetainedSaga, activities: readonly RetainedActivity[]) => boolean,
): Promise<PurgedSaga[]> {
  if (keys.length === 0) return []
  const client = await pool.connect()
  try {
    const purged = await purgeLocked(client, keys, isDue)
    client.release()
    return purged
  } catch (error) {
    // Closing the connection rolls the transaction back and frees its locks, whatever state the connection is in.
    client.release(true)
    throw error
  }
}

async function purgeLocked(
  client: PoolClient,
  keys: readonly TenantKey[],
  isDue: (saga: RetainedSaga, activities: readonly RetainedActivity[]) => boolean,
): Promise<PurgedSaga[]> {
  const { rows: foreseen } = await client.query<SagaActivity>(activitiesOf, tenantKeyArrays(keys))
  await client.query('BEGIN')
  await lockRows(client, { activities: foreseen, sagas: keys })
  const { rows: sagas } = await client.query<RetentionCandidate>(sagasOf, tenantKeyArrays(keys))
  const { rows: activities } = await client.query<SagaActivity>(activitiesOf, tenantKeyArrays(keys))
  const { rows: untold } = await client.query<TenantKey>(untoldOf, tenantKeyArrays(keys))
  const waiting = new Set(untold.map(keyText))
  const locked = new Set(foreseen.map(keyText))
  const due = sagas.flatMap((saga) => {
    const own = activities.filter(({ tenant, sagaId }) => tenant === saga.tenant && sagaId === saga.id)
    // An activity that was added while this transaction waited is not locked: the next run takes the saga.
    const isWhole = own.every((activity) => locked.has(keyText(activity)))
    const mayGo = isWhole && !waiting.has(keyText(saga)) && isDue(saga, own)
    const { tenant, id, serviceName } = saga
    return mayGo ? [{ tenant, id, serviceName, activities: own.length }] : []
  })
  if (due.length > 0) await client.query(purge, tenantKeyArrays(due))
  await client.query('COMMIT')
  return due
}
